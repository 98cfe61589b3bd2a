import {
  fault,
  gangHosts,
  gangService,
  PodRefused,
  takeHostName,
  type HpcGang,
  type PreparationModule,
} from '../../src/index.ts';

/** Where the list stands in a Pod, when `config` of the entry says nothing of it. */
let folder = '/etc/hostfile';

const SLOTS = /^[1-9][0-9]{0,3}$/;

const mapOf = (gang: HpcGang): string => `${gang.name}-hostfile`;

/** What is wrong with each setting; undefined: nothing. */
const wrongWith = (key: string, value: string): string | undefined => {
  if (key !== 'slots') return 'not known: write slots';
  return SLOTS.test(value) ? undefined : 'must be a number from 1 to 9999';
};

/** For mpirun over ssh: every Pod has a list of all of them, whichever of them starts the program. */
export const hostfile: PreparationModule = {
  contractVersion: 1,
  name: 'hostfile',
  patchSurface: {
    lists: ['spec.volumes', 'containers.volumeMounts', 'containers.env'],
    fields: ['spec.hostname', 'spec.subdomain'],
  },
  configure: ({ folder: given = folder, ...others }) => {
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) throw new Error(`config.${unknown} is not known; write folder`);
    if (typeof given !== 'string' || !given.startsWith('/')) throw new Error('config.folder must be a path');
    folder = given;
  },
  validate: (settings) => ({
    faults: Object.entries(settings).flatMap(([key, value]) => {
      const detail = wrongWith(key, value);
      return detail === undefined
        ? []
        : [fault('HpcSettingInvalid', `spec.hpc.settings[${key}]`, { value, detail })];
    }),
    warnings: [],
  }),
  prepare: (pod, asked, patch) => {
    if (pod.at(['spec', 'hostNetwork']) === true)
      throw new PodRefused('spec.hostNetwork', 'the list has names of Pods, not of nodes: leave it out');
    takeHostName(pod, asked, patch);
    const volume = { name: 'hostfile', configMap: { name: mapOf(asked.gang) } };
    patch.add('spec.volumes', volume, 'the list of all Pods');
    const mount = { name: 'hostfile', mountPath: folder, readOnly: true };
    patch.add('containers.volumeMounts', mount, 'where the list stands');
    const variable = { name: 'OMPI_MCA_orte_default_hostfile', value: `${folder}/hosts` };
    patch.add('containers.env', variable, 'by which mpirun finds the list');
  },
  objects: (gang, { slots = '1' }, { subdomain = gang.name }) => {
    const lines = gangHosts(gang).map((host) => `${host}.${subdomain} slots=${slots}\n`);
    const metadata = { name: mapOf(gang), namespace: gang.namespace };
    return [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { hosts: lines.join('') } },
      ...gangService(gang, subdomain, { name: 'ssh', port: 22 }),
    ];
  },
};

export default hostfile;
