import type { JsonObject } from '../json/json.ts';

/** A creation that is only tried out. */
export interface ForecastQuestion {
  /** Who tries it: what others have tried is not counted for them. */
  readonly user: string;
  readonly namespace: string;
  /** The Pod or PodGang, as it would be stored. */
  readonly object: JsonObject;
}

/** What the process of the forecasts is told. */
export interface Asked extends ForecastQuestion {
  readonly id: number;
  /** Milliseconds since 1970 after which nobody waits for it. */
  readonly until: number;
}

/** What it says. */
export type ForecastMessage =
  | { readonly what: 'forecast'; readonly id: number; readonly warnings: readonly string[] }
  /** Whether its watches are complete; why not, by kind. */
  | { readonly what: 'state'; readonly ready: boolean; readonly reason: string };

/** Whom a forecast may name: units of all namespaces, of the gang's own, or none, where anybody may ask. */
export type Names = 'All' | 'Own' | 'None';

/** How it is started. */
export interface PreviewSetting {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly names: Names;
  /** Whose Pods never go. */
  readonly exemptNamespaces: readonly string[];
}
