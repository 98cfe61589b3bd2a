import type { BackendFacts } from '../cluster.ts';
import type { NativeConfig } from './config.ts';
import { apiVersionOf, COMPOSITE_POD_GROUPS, type GangApi } from './gang-api.ts';
import { NO_FIELDS, type Fields } from './probe.ts';

const ALONE = 'the gates hold a gang until its Pods are all there, then each is placed by itself';

/** What a cluster was found to have. */
interface Found {
  readonly api: GangApi | undefined;
  readonly fields: Fields;
  readonly composites: boolean;
}

/** What was found in a cluster, for whoever runs it. */
export function factsOf(
  { api, fields, composites }: Found,
  { api: wanted, groups, disruptionMode }: NativeConfig,
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
  const { kind, version } = COMPOSITE_POD_GROUPS;
  // What is used is told; that an alpha is off is nothing that anybody has to mend.
  const used = composites && (groups === 'auto' || groups === 'composite') ? `, ${kind} of ${version}` : '';
  return { version: `${apiVersionOf(api)}${used}`, notices };
}

/** What is assumed where there is no cluster to ask. */
export function offlineFacts(api: GangApi | undefined, config: NativeConfig): BackendFacts {
  if (config.api === 'none') return factsOf({ api: undefined, fields: NO_FIELDS, composites: false }, config);
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
