import type { GangStatus } from './gang-status.ts';

/** The gangs that the user asked for. */
export interface Question {
  /** Name of one gang; undefined: all gangs. */
  readonly gang: string | undefined;
  /** undefined: all namespaces. */
  readonly namespace: string | undefined;
}

/** Why the shown status may be outdated. */
export interface Trouble {
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly message: string;
}

/** The whole status at one moment. */
export interface Moment {
  readonly question: Question;
  readonly gangs: readonly GangStatus[];
  readonly trouble: Trouble | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export const namespaceText = ({ namespace }: Question): string =>
  namespace === undefined ? 'in any namespace' : `in namespace ${namespace}`;

/** Shows one moment after the other, by drawing over the last one or by appending lines. */
export interface Show {
  /** Shows a moment. @param changed gangs that differ from the moment before; at first every gang. May be empty. */
  show(moment: Moment, changed: readonly Changed[]): void;
  /** Restores the terminal as it was before the first `show`. */
  close(): void;
}

/** A gang before and after a change; at least one of both exists. */
export interface Changed {
  readonly namespace: string;
  readonly name: string;
  readonly old: GangStatus | undefined;
  readonly new: GangStatus | undefined;
}
