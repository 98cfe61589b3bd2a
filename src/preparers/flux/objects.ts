import type { JsonObject } from '../../json/json.ts';
import { ENTRYPOINT_SCRIPT, INIT_SCRIPT } from './scripts.ts';
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
  rangeOf,
  type HpcGang,
  type HostGroup,
} from '../hosts/hosts.ts';

/** What the objects of a gang depend on beside the gang and its policy. */
export interface FluxObjectOptions {
  /** Of `makeCurveCertificate`; what the Secret has already, where there is one. */
  readonly certificate: string;
  /** `spec.subdomain` of the Pods where they have one of their own: its Service is their owner's then. */
  readonly subdomain?: string | undefined;
}

/**
 * What a gang under Flux needs beside its Pods: ConfigMap, Secret, and the headless Service unless the Pods have one. The
 * same gang, policy and subdomain give the same ConfigMap and Service. {@link checkFluxGang} goes first.
 */
export function renderFluxObjects(
  gang: HpcGang,
  settings: FluxSettings,
  given: FluxObjectOptions,
): JsonObject[] {
  const { certificate, subdomain } = given;
  return [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: objectMetadata(gang, fluxConfigMapName(gang.name)),
      data: configData(gang, settings, subdomain ?? gangServiceName(gang.name)),
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: objectMetadata(gang, fluxSecretName(gang.name)),
      type: 'Opaque',
      // Its characters mean something nearly everywhere: only in base64 do they travel unharmed.
      data: { 'curve.cert': btoa(certificate) },
    },
    ...gangService(gang, subdomain, { name: 'flux', port: FLUX.port }),
  ];
}

function configData(gang: HpcGang, settings: FluxSettings, subdomain: string): JsonObject {
  const groups = hostGroups(gang, settings.leadGroup);
  const domain = hostDomain(subdomain, gang.namespace, settings.clusterDomain);
  // A file each, read as a whole: nothing of this is ever part of a command line that a shell takes apart.
  return {
    'init.sh': INIT_SCRIPT,
    'entrypoint.sh': ENTRYPOINT_SCRIPT,
    'broker.toml': brokerConfig(settings, { groups, domain }),
    hostlist: line(groups.map(hostList).join(',')),
    hosts: line(hostCount(groups)),
    lead: line(leadHost(groups)),
    quorum: line(quorumOf(gang, settings)),
    cores: line(rangeOf(settings.tasksPerNode)),
    'tasks-per-node': line(settings.tasksPerNode),
  };
}

const line = (value: string | number): string => `${value}\n`;

/** What the brokers of a gang are called, and by which DNS domain they find each other. */
export interface Brokers {
  readonly groups: readonly HostGroup[];
  /** `<subdomain>.<namespace>.svc.<cluster domain>` */
  readonly domain: string;
}

/**
 * The configuration of every broker of a gang. All that is put into it was checked for characters that mean something in
 * TOML; the entrypoint replaces the lines `default_bind` and `queue-policy` where a Pod's environment says so.
 */
const brokerConfig = (
  { networkDevice, queuePolicy }: FluxSettings,
  { groups, domain }: Brokers,
): string => `[access]
allow-guest-user = true
allow-root-owner = true

[resource]
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
