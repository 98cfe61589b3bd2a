import { own, ownObject, ownString, type JsonObject } from '../json/json.ts';
import { parseKubeTime } from '../k8s/time.ts';
import { oneLine } from '../text/printable.ts';

/** An Event of either API, trimmed to what a timeline needs. Times are milliseconds since 1970. */
export interface EventRecord {
  /** By the API server's clock, as the times of creation are: whoever reports an Event may have another. */
  readonly at: number;
  /** The last time that it was reported; `at` where that was once. */
  readonly last: number;
  readonly count: number;
  readonly reason: string;
  readonly warning: boolean;
  readonly note: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** Reads an Event of `events.k8s.io/v1` or of the core API; undefined where it has no time. */
export function readEventRecord(event: JsonObject): EventRecord | undefined {
  const times = [
    ownString(ownObject(event, 'metadata'), 'creationTimestamp'),
    ownString(event, 'eventTime'),
    ...['deprecatedFirstTimestamp', 'firstTimestamp'].map((key) => ownString(event, key)),
  ];
  const at = times.map(parseKubeTime).find((one) => one !== undefined);
  if (at === undefined) return undefined;
  const series = ownObject(event, 'series');
  const lasts = [
    ownString(series, 'lastObservedTime'),
    ...['deprecatedLastTimestamp', 'lastTimestamp'].map((key) => ownString(event, key)),
  ];
  const counts = [own(series, 'count'), own(event, 'deprecatedCount'), own(event, 'count')];
  const about = ownObject(event, 'regarding') ?? ownObject(event, 'involvedObject');
  return {
    at,
    last: Math.max(at, lasts.map(parseKubeTime).find((one) => one !== undefined) ?? at),
    count: (counts.find((one) => typeof one === 'number' && one >= 1) as number | undefined) ?? 1,
    reason: ownString(event, 'reason') ?? '',
    warning: ownString(event, 'type') === 'Warning',
    note: oneLine(ownString(event, 'note') ?? ownString(event, 'message') ?? ''),
    kind: ownString(about, 'kind') ?? '',
    name: ownString(about, 'name') ?? '',
    uid: ownString(about, 'uid') ?? '',
  };
}
