import type { JsonObject } from '../api/json.ts';
import { LABEL_MANAGED_BY, LABEL_POD_GANG, MANAGED_BY_MUSTER } from '../api/names.ts';
import { brokerConfig } from './broker-config.ts';
import { ENTRYPOINT_SCRIPT } from './entrypoint-script.ts';
import { FLUX, fluxConfigMapName, fluxDomain, fluxSecretName, fluxServiceName } from './flux-names.ts';
import type { FluxSettings } from './flux-settings.ts';
import { hostCount, hostGroups, hostList, leadHost, quorumOf, rangeOf, type FluxGang } from './hosts.ts';
import { INIT_SCRIPT } from './init-script.ts';

/** What the objects of a gang depend on beside the gang and its policy. */
export interface ObjectsGiven {
  /** Of `makeCurveCertificate`; what the Secret has already, where there is one. */
  readonly certificate: string;
  /** `spec.subdomain` of the Pods where they have one of their own: its Service is their owner's then. */
  readonly subdomain?: string | undefined;
}

/**
 * What a gang under Flux needs beside its Pods: ConfigMap, Secret, and the headless Service unless the Pods have one. The
 * same gang, policy and subdomain give the same ConfigMap and Service. {@link checkFluxGang} goes first.
 */
export function renderFluxObjects(gang: FluxGang, settings: FluxSettings, given: ObjectsGiven): JsonObject[] {
  const { certificate, subdomain = fluxServiceName(gang.name) } = given;
  const metadata = (name: string): JsonObject => ({
    namespace: gang.namespace,
    name,
    labels: { [LABEL_MANAGED_BY]: MANAGED_BY_MUSTER, [LABEL_POD_GANG]: gang.name },
  });
  const objects: JsonObject[] = [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: metadata(fluxConfigMapName(gang.name)),
      data: configData(gang, settings, subdomain),
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: metadata(fluxSecretName(gang.name)),
      type: 'Opaque',
      // Its characters mean something nearly everywhere: only in base64 do they travel unharmed.
      data: { 'curve.cert': btoa(certificate) },
    },
  ];
  if (subdomain === fluxServiceName(gang.name)) {
    objects.push({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: metadata(subdomain),
      spec: {
        clusterIP: 'None',
        // Brokers look for each other before any of them is ready.
        publishNotReadyAddresses: true,
        selector: { [LABEL_POD_GANG]: gang.name },
        ports: [{ name: 'flux', protocol: 'TCP', port: FLUX.port, targetPort: FLUX.port }],
      },
    });
  }
  return objects;
}

function configData(gang: FluxGang, settings: FluxSettings, subdomain: string): JsonObject {
  const groups = hostGroups(gang, settings);
  const domain = fluxDomain(subdomain, gang.namespace, settings);
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
