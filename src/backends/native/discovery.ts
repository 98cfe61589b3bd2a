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

/** Knowledge about the cluster's native gangs. Each inspection replaces it as a whole, since Pods are prepared meanwhile. */
interface Known {
  readonly native: Native | undefined;
  /** Whether it was read from a cluster or set by the configuration, rather than assumed. */
  readonly certain: boolean;
}

/** Knowledge of one profile about its cluster; by the configuration alone before the first inspection. */
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

  /** undefined: no native gangs, only gates. */
  get native(): Native | undefined {
    return this.#known.native;
  }

  get certain(): boolean {
    return this.#known.certain;
  }

  /**
   * Inspects the cluster. The earlier knowledge stays when the cluster does not answer.
   * @throws Error when the configured version is not served; ApiError
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
    // Set before the dry runs: preparing Pods needs only the API version and the layout, so Pods do not wait for the rest.
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
 * The first of these APIs that the cluster serves, or undefined. A served version of the group is not enough: v1beta1 had
 * PriorityClass years before it had gangs.
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

/**
 * Whether the cluster serves CompositePodGroups beside these PodGroups. Only then does a PodGroup keep the name of its
 * parent.
 */
async function servesComposites(cluster: Pick<ClusterProbe, 'resources'>, api: GangApi): Promise<boolean> {
  if (!api.nests) return false;
  const { version, plural } = COMPOSITE_POD_GROUPS;
  const resources = await cluster.resources(`${SCHEDULING_GROUP}/${version}`);
  return resources?.some((one) => one.plural === plural) === true;
}

/** The gated fields that a dry run returns; there is no other way to detect them. */
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

/** Features found in a cluster. */
interface Found {
  readonly api: GangApi | undefined;
  readonly fields: Fields;
  readonly composites: boolean;
}

/** The findings, for the operator. */
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
  // An API in use is named. A disabled alpha API is no problem, so it is not reported.
  const used = composites && (groups === 'auto' || groups === 'composite') ? `, ${kind} of ${version}` : '';
  return { version: `${nativeApiVersion(api)}${used}`, notices };
}

/** Assumed facts when there is no cluster to inspect. */
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
