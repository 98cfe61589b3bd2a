import type { JsonObject } from '../json/json.ts';

/** A creation by dry run. */
export interface ForecastQuestion {
  /** The account of the dry run. Objects that other accounts have tried do not count for it. */
  readonly user: string;
  readonly namespace: string;
  /** The Pod or PodGang, as it would be stored. */
  readonly object: JsonObject;
}

/** Message from Muster to the process that makes forecasts. */
export interface Asked extends ForecastQuestion {
  readonly id: number;
  /** Milliseconds since 1970 after which the dry run is over. */
  readonly until: number;
}

/** Message from the process to Muster. */
export type ForecastMessage =
  | { readonly what: 'forecast'; readonly id: number; readonly warnings: readonly string[] }
  /** Whether the watches are complete, and by kind why they are not. */
  | { readonly what: 'state'; readonly ready: boolean; readonly reason: string };

/**
 * Which victims a forecast may name: those of all namespaces, those of the gang's own namespace, or none where the callers
 * are not known.
 */
export type Names = 'All' | 'Own' | 'None';

/** Settings with which the process is started. */
export interface PreviewSetting {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly names: Names;
  /** Namespaces whose Pods are never evicted. */
  readonly exemptNamespaces: readonly string[];
}
