import type { BackendFacts, ClusterProbe } from '../cluster.ts';
import type { NativeConfig } from './config.ts';
import { apiVersionOf, GANG_APIS, markOf, type GangApi } from './gang-api.ts';
import { factsOf, offlineFacts } from './notices.ts';
import type { Native } from './objects.ts';
import { ALL_FIELDS, keptFields, NO_FIELDS, servedApi, type Fields } from './probe.ts';

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
    this.#known = { native: this.#native(this.#fixed, fields), certain: config.api === 'none' };
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
    if (cluster === undefined) return offlineFacts(this.#fixed, wanted);
    if (wanted === 'none') return factsOf(undefined, NO_FIELDS, this.#config);
    const api = await servedApi(cluster, this.#fixed === undefined ? GANG_APIS : [this.#fixed]);
    if (api === undefined && this.#fixed !== undefined) throw notServed(this.#fixed);
    // Pods need to know no more, so they do not wait for the rest.
    const before = this.#known.native?.api === api ? this.#known.native?.fields : undefined;
    this.#known = { native: this.#native(api, before ?? NO_FIELDS), certain: true };
    const fields = api === undefined ? NO_FIELDS : await keptFields(cluster, api);
    this.#known = { native: this.#native(api, fields), certain: true };
    return factsOf(api, fields, this.#config);
  }

  #native(api: GangApi | undefined, fields: Fields): Native | undefined {
    const { layout, disruptionMode } = this.#config;
    return api && { api, fields, layout, disruptionMode };
  }
}

const notServed = (api: GangApi): Error =>
  new Error(
    `config.api is ${api.version}, but the cluster serves no ${markOf(api).plural} in ${apiVersionOf(api)}: serve them (feature gates and --runtime-config), or set config.api to auto`,
  );
