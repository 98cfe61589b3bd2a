import type { BackendFacts } from '../cluster.ts';
import type { NativeConfig } from './config.ts';
import { apiVersionOf, type GangApi } from './gang-api.ts';
import type { Fields } from './probe.ts';

const ALONE = 'the gates hold a gang until its Pods are all there, then each is placed by itself';

/** What was found in a cluster, for whoever runs it. */
export function factsOf(
  api: GangApi | undefined,
  fields: Fields,
  { api: wanted, disruptionMode }: Pick<NativeConfig, 'api' | 'disruptionMode'>,
): BackendFacts {
  if (api === undefined) {
    const reason =
      wanted === 'none'
        ? 'native gangs are switched off in the configuration'
        : 'the cluster serves no native gangs (podgroups or workloads of scheduling.k8s.io; off by default)';
    return { version: 'none', notices: [`${reason}: ${ALONE}`] };
  }
  const notices: string[] = [];
  if (!fields.priority) {
    const what = disruptionMode === undefined ? 'priorityClassName' : 'priorityClassName and disruptionMode';
    notices.push(
      `native gangs have no ${what} here: feature gate WorkloadAwarePreemption is off, or this Kubernetes has none`,
    );
  }
  if (!fields.topology) {
    notices.push(
      'native gangs have no topology here: feature gate TopologyAwareWorkloadScheduling is off, or this Kubernetes has none',
    );
  }
  return { version: apiVersionOf(api), notices };
}

/** What is assumed where there is no cluster to ask. */
export function offlineFacts(api: GangApi | undefined, wanted: string): BackendFacts {
  if (wanted === 'none')
    return factsOf(
      undefined,
      { priority: false, topology: false },
      { api: wanted, disruptionMode: undefined },
    );
  if (api === undefined) {
    return {
      version: 'none',
      notices: [`no cluster was asked for native gangs, and config.api does not say: ${ALONE}`],
    };
  }
  return {
    version: apiVersionOf(api),
    notices: [`no cluster was asked: ${apiVersionOf(api)} is taken to be served, with all its fields`],
  };
}
