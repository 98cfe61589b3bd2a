import type { BackendFacts, ClusterProbe } from '../cluster.ts';
import type { NativeConfig } from './config.ts';
import {
  apiVersionOf,
  COMPOSITE_POD_GROUPS,
  GANG_APIS,
  markOf,
  SCHEDULING_GROUP,
  type GangApi,
} from './gang-api.ts';
import { factsOf, offlineFacts } from './notices.ts';
import { ALL_FIELDS, keptFields, NO_FIELDS, servedApi, servesComposites, type Fields } from './probe.ts';
import type { Native } from './terms.ts';

/** What is known of the cluster's native gangs. Every look replaces it as a whole, since Pods are prepared meanwhile. */
interface Known {
  readonly native: Native | undefined;
  /** Whether a cluster or the configuration says so, and it is no guess. */
  readonly certain: boolean;
}

/** What one profile knows of its cluster. Until somebody looks it goes by the configuration alone. */
export class LookedAt {
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
      return factsOf({ api: undefined, fields: NO_FIELDS, composites: false }, this.#config);
    const api = await servedApi(cluster, this.#fixed === undefined ? GANG_APIS : [this.#fixed]);
    if (api === undefined && this.#fixed !== undefined) throw notServed(this.#fixed);
    const composites = api !== undefined && (await servesComposites(cluster, api));
    if (api !== undefined && !composites && this.#config.groups === 'composite') throw noComposites();
    // Pods need to know no more, so they do not wait for the rest.
    const before = this.#known.native?.api === api ? this.#known.native?.fields : undefined;
    this.#known = { native: this.#native(api, before ?? NO_FIELDS, composites), certain: true };
    const fields = api === undefined ? NO_FIELDS : await keptFields(cluster, api);
    this.#known = { native: this.#native(api, fields, composites), certain: true };
    return factsOf({ api, fields, composites }, this.#config);
  }

  #native(api: GangApi | undefined, fields: Fields, composites: boolean): Native | undefined {
    const { groups, disruptionMode } = this.#config;
    const layout = groups === 'auto' ? (composites ? 'composite' : 'flat') : groups;
    return api && { api, fields, layout, disruptionMode };
  }
}

const notServed = (api: GangApi): Error =>
  new Error(
    `config.api is ${api.version}, but the cluster serves no ${markOf(api).plural} in ${apiVersionOf(api)}: serve them (feature gates and --runtime-config), or set config.api to auto`,
  );

const noComposites = (): Error =>
  new Error(
    `config.groups is composite, but the cluster serves no ${COMPOSITE_POD_GROUPS.plural} in ${SCHEDULING_GROUP}/${COMPOSITE_POD_GROUPS.version}: serve them (feature gate CompositePodGroup and --runtime-config), or set config.groups to auto`,
  );
