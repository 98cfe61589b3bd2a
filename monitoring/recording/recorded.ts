/** What a recording leaves. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface RecordedEvent {
  /** Seconds from the start. */
  readonly at: number;
  readonly what: string;
}

export interface RecordedLine {
  readonly name: string;
  /** One for each step; null where there was none. */
  readonly values: readonly (number | null)[];
}

export interface Recorded {
  /** Day, release of Kubernetes, replicas. */
  readonly on: string;
  readonly stepSeconds: number;
  readonly events: readonly RecordedEvent[];
  /** Creations that were not accepted, by HTTP status; 0 where no answer came. */
  readonly refused: Readonly<Record<string, number>>;
  readonly alerts: readonly {
    readonly metric: Readonly<Record<string, string>>;
    readonly values: readonly (number | null)[];
  }[];
  /** By the title of the panel. */
  readonly panels: Record<string, readonly RecordedLine[]>;
}

export const readRecorded = (): Recorded =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'recorded.json'), 'utf8')) as Recorded;
