import type { GangRecord } from '../gang/records.ts';
import type { EventRecord } from './event-record.ts';
import type { Generation } from './generations.ts';
import type { Release } from './releases.ts';

/** The kinds of step, in the order in which a gang takes them. */
export const LIFE_STEPS = [
  'created',
  'first-pod',
  'last-pod',
  'complete',
  'objects',
  'referenced',
  'initialized',
  'joined',
  'gates-off',
  'refused',
  'bound',
  'started',
  'ready',
  'evicted',
  'deleted',
  'ended',
] as const;
export type StepName = (typeof LIFE_STEPS)[number];

/** One step of a gang's life. */
export interface LifeStep {
  /** RFC 3339, in whole seconds. */
  readonly at: string;
  readonly step: StepName;
  /** Which release of the whole gang it belongs to; the first is 1. */
  readonly generation: number;
  /** Names of the Pods that took the step at that moment, sorted; empty for a step of the gang itself. */
  readonly pods: readonly string[];
  /** What was waited for until then; '' for nothing. */
  readonly waitedFor: string;
  /** What was said of it, such as the scheduler's reason; absent where nothing was. */
  readonly says?: string;
}

/** What the steps are made from. */
export interface Known {
  readonly gang: GangRecord | undefined;
  readonly created: number | undefined;
  readonly initialized: number | undefined;
  readonly referenced: number | undefined;
  readonly objects: readonly { readonly title: string; readonly uid: string; readonly at: number }[];
  readonly releases: readonly Release[];
  readonly events: readonly EventRecord[];
  readonly generations: readonly Generation[];
  readonly now: number;
}

/** A step before it is printed: `at` in milliseconds since 1970. */
export type DatedStep = Omit<LifeStep, 'at'> & { readonly at: number };
