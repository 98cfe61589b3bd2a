import type { JsonObject } from '../../json/json.ts';
import { ENTRYPOINT_SCRIPT } from './entrypoint-script.ts';
import { INIT_SCRIPT } from './init-script.ts';
import { FLUX, fluxConfigMapName, fluxSecretName } from './names.ts';
import type { FluxSettings } from './settings.ts';
import {
  gangService,
  gangServiceName,
  objectMetadata,
  hostCount,
  hostDomain,
  hostGroups,
  hostList,
  leadHost,
  quorumOf,
  type HpcGang,
  type HostGroup,
} from '../hosts/hosts.ts';

/** Input of a gang's objects beside the gang and its policy. */
export interface FluxObjectOptions {
  /** Result of `makeCurveCertificate`, or the existing content of the Secret. */
  readonly certificate: string;
  /** `spec.subdomain` that the Pods have of their own; the owner of the Pods provides its Service. */
  readonly subdomain?: string | undefined;
  /** Cores and GPUs of a Pod, such as `4 2`, by group; a group that is missing is as the lead's machine is. */
  readonly asks?: ReadonlyMap<string, string> | undefined;
}

/**
 * The objects of a gang under Flux: ConfigMap, Secret, and the headless Service unless the Pods have one. The same gang,
 * policy and subdomain give the same ConfigMap and Service. {@link checkFluxGang} has to pass first.
 */
export function renderFluxObjects(
  gang: HpcGang,
  settings: FluxSettings,
  given: FluxObjectOptions,
): JsonObject[] {
  const { certificate, subdomain, asks } = given;
  return [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: objectMetadata(gang, fluxConfigMapName(gang.name)),
      data: configData(gang, settings, subdomain ?? gangServiceName(gang.name), asks),
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: objectMetadata(gang, fluxSecretName(gang.name)),
      type: 'Opaque',
      // base64, since the certificate has characters that are special in most formats.
      data: { 'curve.cert': btoa(certificate) },
    },
    ...gangService(gang, subdomain, { name: 'flux', port: FLUX.port }),
  ];
}

function configData(
  gang: HpcGang,
  settings: FluxSettings,
  subdomain: string,
  asks: FluxObjectOptions['asks'],
): JsonObject {
  const groups = hostGroups(gang, settings.leadGroup);
  const domain = hostDomain(subdomain, gang.namespace, settings.clusterDomain);
  // Separate files that are read as a whole, so that no shell ever splits their content.
  return {
    'init.sh': INIT_SCRIPT,
    'entrypoint.sh': ENTRYPOINT_SCRIPT,
    'broker.toml': brokerConfig(settings, { groups, domain }),
    hostlist: line(groups.map(hostList).join(',')),
    hosts: line(hostCount(groups)),
    lead: line(leadHost(groups)),
    quorum: line(quorumOf(gang, settings)),
    resources: groups
      .map((group) => line([hostList(group), group.hosts, asks?.get(group.group) ?? '- -'].join(' ')))
      .join(''),
    'tasks-per-node': line(settings.tasksPerNode),
    'cores-per-task': line(settings.coresPerTask ?? 0),
    'gpus-per-task': line(settings.gpusPerTask ?? 0),
    exclusive: line(String(settings.exclusive)),
    'cpu-affinity': line(settings.cpuAffinity),
    'gpu-affinity': line(settings.gpuAffinity),
    pmi: line(settings.pmi),
  };
}

const line = (value: string | number): string => `${value}\n`;

/** Host names of a gang's brokers, and the DNS domain in which they find each other. */
export interface Brokers {
  readonly groups: readonly HostGroup[];
  /** `<subdomain>.<namespace>.svc.<cluster domain>` */
  readonly domain: string;
}

/**
 * The configuration of every broker of a gang. All inserted values have been checked for TOML's special characters. The
 * entrypoint replaces the lines `default_bind` and `queue-policy` when a Pod's environment sets them.
 */
const brokerConfig = (
  { networkDevice, queuePolicy }: FluxSettings,
  { groups, domain }: Brokers,
): string => `[access]
allow-guest-user = true
allow-root-owner = true

[resource]
# A Pod may ask for more cores than its machine shows, and Flux would wait for them for ever.
noverify = true
path = "/mnt/flux/config/etc/flux/system/R"

[bootstrap]
curve_cert = "/mnt/flux/config/etc/curve/curve.cert"
default_port = ${FLUX.port}
default_bind = "tcp://${networkDevice}:%p"
default_connect = "tcp://%h.${domain}:%p"
hosts = [
${groups.map((group) => `  { host = "${hostList(group)}" },`).join('\n')}
]

[archive]
dbpath = "/mnt/flux/config/var/lib/flux/job-archive.sqlite"
period = "1m"
busytimeout = "50s"

[sched-fluxion-qmanager]
queue-policy = "${queuePolicy}"
`;
