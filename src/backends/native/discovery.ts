import type { BackendFacts, ClusterProbe } from '../cluster.ts';
import type { NativeConfig } from './config.ts';
import {
  nativeApiVersion,
  COMPOSITE_POD_GROUPS,
  GANG_APIS,
  markerKind,
  SCHEDULING_GROUP,
  type GangApi,
} from './gang-api.ts';
import type { Fields, Native } from './objects.ts';
import { isDeepStrictEqual } from 'node:util';
import { own, ownObject } from '../../json/json.ts';

/** What is known of the cluster's native gangs. Every look replaces it as a whole, since Pods are prepared meanwhile. */
interface Known {
  readonly native: Native | undefined;
  /** Whether a cluster or the configuration says so, and it is no guess. */
  readonly certain: boolean;
}

/** What one profile knows of its cluster. Until somebody looks it goes by the configuration alone. */
export class NativeDiscovery {
  readonly #config: NativeConfig;
  readonly #fixed: GangApi | undefined;
  #known: Known;

  constructor(config: NativeConfig) {
    this.#config = config;
    this.#fixed = GANG_APIS.find(({ version }) => version === config.api);
    const fields = this.#fixed?.podGroups === undefined ? NO_FIELDS : ALL_FIELDS;
    const native = this.#native(this.#fixed, fields, config.groups === 'composite');
    this.#known = { native, certain: config.api === 'none' };
  }

  /** undefined: gates alone. */
  get native(): Native | undefined {
    return this.#known.native;
  }

  get certain(): boolean {
    return this.#known.certain;
  }

  /**
   * A cluster that does not answer leaves what was known before.
   * @throws Error where the configured version is not served; ApiError
   */
  async look(cluster: ClusterProbe | undefined): Promise<BackendFacts> {
    const { api: wanted } = this.#config;
    if (cluster === undefined) return offlineFacts(this.#fixed, this.#config);
    if (wanted === 'none')
      return nativeFacts({ api: undefined, fields: NO_FIELDS, composites: false }, this.#config);
    const api = await servedApi(cluster, this.#fixed === undefined ? GANG_APIS : [this.#fixed]);
    if (api === undefined && this.#fixed !== undefined) throw notServed(this.#fixed);
    const composites = api !== undefined && (await servesComposites(cluster, api));
    if (api !== undefined && !composites && this.#config.groups === 'composite') throw noComposites();
    // Pods need to know no more, so they do not wait for the rest.
    const before = this.#known.native?.api === api ? this.#known.native?.fields : undefined;
    this.#known = { native: this.#native(api, before ?? NO_FIELDS, composites), certain: true };
    const fields = api === undefined ? NO_FIELDS : await keptFields(cluster, api);
    this.#known = { native: this.#native(api, fields, composites), certain: true };
    return nativeFacts({ api, fields, composites }, this.#config);
  }

  #native(api: GangApi | undefined, fields: Fields, composites: boolean): Native | undefined {
    const { groups, disruptionMode } = this.#config;
    const layout = groups === 'auto' ? (composites ? 'composite' : 'flat') : groups;
    return api && { api, fields, layout, disruptionMode };
  }
}

const notServed = (api: GangApi): Error =>
  new Error(
    `config.api is ${api.version}, but the cluster serves no ${markerKind(api).plural} in ${nativeApiVersion(api)}: serve them (feature gates and --runtime-config), or set config.api to auto`,
  );

const noComposites = (): Error =>
  new Error(
    `config.groups is composite, but the cluster serves no ${COMPOSITE_POD_GROUPS.plural} in ${SCHEDULING_GROUP}/${COMPOSITE_POD_GROUPS.version}: serve them (feature gate CompositePodGroup and --runtime-config), or set config.groups to auto`,
  );

const NO_FIELDS: Fields = { priority: false, topology: false };
const ALL_FIELDS: Fields = { priority: true, topology: true };

/**
 * The first of these APIs that the cluster serves, or undefined. That a version of the group is served says little:
 * v1beta1 was one of PriorityClass years before it had gangs.
 */
async function servedApi(
  cluster: Pick<ClusterProbe, 'versions' | 'resources'>,
  apis: readonly GangApi[],
): Promise<GangApi | undefined> {
  const versions = await cluster.versions(SCHEDULING_GROUP);
  for (const api of apis) {
    if (!versions.includes(api.version)) continue;
    const resources = await cluster.resources(nativeApiVersion(api));
    if (resources?.some(({ plural }) => plural === markerKind(api).plural)) return api;
  }
  return undefined;
}

/** Whether the cluster serves CompositePodGroups beside these PodGroups. Where it does, PodGroups keep the name of a parent. */
async function servesComposites(cluster: Pick<ClusterProbe, 'resources'>, api: GangApi): Promise<boolean> {
  if (!api.nests) return false;
  const { version, plural } = COMPOSITE_POD_GROUPS;
  const resources = await cluster.resources(`${SCHEDULING_GROUP}/${version}`);
  return resources?.some((one) => one.plural === plural) === true;
}

/** Which of the gated fields come back from a dry run; only so can it be seen. */
async function keptFields(cluster: Pick<ClusterProbe, 'dryRunCreate'>, api: GangApi): Promise<Fields> {
  if (api.podGroups === undefined) return NO_FIELDS;
  const disruptionMode = api.disruptionMode?.gang ?? null;
  const stored = await cluster.dryRunCreate(api.podGroups, {
    metadata: { generateName: 'muster-probe-' },
    spec: {
      [api.policy]: { gang: { minCount: 1 } },
      schedulingConstraints: { topology: [{ key: 'kubernetes.io/hostname' }] },
      disruptionMode,
    },
  });
  const spec = own(stored, 'spec');
  return {
    priority: isDeepStrictEqual(own(spec, 'disruptionMode'), disruptionMode),
    topology: ownObject(spec, 'schedulingConstraints') !== undefined,
  };
}

const ALONE = 'the gates hold a gang until its Pods are all there, then each is placed by itself';

/** What a cluster was found to have. */
interface Found {
  readonly api: GangApi | undefined;
  readonly fields: Fields;
  readonly composites: boolean;
}

/** What was found in a cluster, for whoever runs it. */
function nativeFacts(
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
  return { version: `${nativeApiVersion(api)}${used}`, notices };
}

/** What is assumed where there is no cluster to ask. */
function offlineFacts(api: GangApi | undefined, config: NativeConfig): BackendFacts {
  if (config.api === 'none')
    return nativeFacts({ api: undefined, fields: NO_FIELDS, composites: false }, config);
  if (api === undefined) {
    return {
      version: 'none',
      notices: [`no cluster was asked for native gangs, and config.api does not say: ${ALONE}`],
    };
  }
  return {
    version: nativeApiVersion(api),
    notices: [`no cluster was asked: ${nativeApiVersion(api)} is taken to be served, with all its fields`],
  };
}
