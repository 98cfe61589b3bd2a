import type { Scratch } from '../admission/servers.ts';
import type { Placement } from '../measure/placement.ts';

/** What somebody does at the cost of others, and what those others have of it. */
export interface Scenario {
  readonly id: string;
  readonly title: string;
  measure(timing: HostileTiming, setting: HostileSetting): Promise<Beside>;
}

export interface HostileTiming {
  /** Each has a time without the attack and one with it; which is first changes from round to round. */
  readonly attacks: { readonly rounds: number; readonly roundMs: number };
  /** Of these it takes longer until they are there. */
  readonly floods: { readonly rounds: number; readonly roundMs: number };
  /** After an attack has begun or ended, before anything is counted. */
  readonly settleMs: number;
}

export interface HostileSetting {
  readonly scratch: Scratch;
  readonly placement: Placement;
  readonly progress: (line: string) => void;
  /** A folder with the build of another Muster, which then takes the place of this one. */
  readonly against?: string;
}

/** How long each call took, in milliseconds, a list for each second or so. */
export type Waits = readonly (readonly number[])[];

/** What a good neighbour had, side by side. */
export interface Beside {
  readonly calm: Waits;
  readonly attacked: Waits;
  /** How long the API server took for what the good neighbour asked it himself; absent where none is in between. */
  readonly apiServer?: { readonly calm: Waits; readonly attacked: Waits };
  /** What the good neighbour asked for during the attack and never got. */
  readonly failed: number;
  /** The most memory that Muster ever had, in MiB. */
  readonly peakMiB: number;
  /** What the attack came to, for people. */
  readonly attack: string;
}
