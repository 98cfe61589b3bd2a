import { didYouMean } from '../../text/nearest-key.ts';
import { fluxSettingRows } from './settings.ts';

/** Words of mpirun, Slurm, Flux and Kubeflow for a setting. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  np: 'tasks-per-node',
  ppn: 'tasks-per-node',
  ntasks: 'tasks-per-node',
  tasks: 'tasks-per-node',
  ntasksPerNode: 'tasks-per-node',
  npernode: 'tasks-per-node',
  numProcPerNode: 'tasks-per-node',
  image: 'flux-view-image',
  device: 'flux-network-device',
  interface: 'flux-network-device',
  scheduler: 'flux-queue-policy',
  sharedMemory: 'shm-size',
  container: 'runner-container',
  lead: 'lead-group',
  leader: 'lead-group',
  minSize: 'quorum',
  nodeSelector: 'node-affinity',
};

const bare = (key: string): string => key.toLowerCase().replaceAll(/[^a-z]/g, '');

/** Names of settings by what else they are called: without `flux-`, in camelCase, or by another program. */
const MEANT: ReadonlyMap<string, string> = new Map([
  ...Object.entries(ELSEWHERE).map(([key, name]): [string, string] => [bare(key), name]),
  ...Object.entries(fluxSettingRows).flatMap(([name, { field }]): [string, string][] => [
    [bare(name), name],
    [bare(name.replace(/^flux-/, '')), name],
    [bare(field), name],
  ]),
]);

/** Returns `did you mean "x"?` for the setting that an unknown key means or resembles; undefined where there is none. */
export function settingMeant(key: string): string | undefined {
  const meant = MEANT.get(bare(key));
  return meant === undefined ? didYouMean(key, Object.keys(fluxSettingRows)) : `did you mean "${meant}"?`;
}
