import { h, type ComponentChildren, type JSX } from 'preact';
import type { GangRow, ErrorAnswer } from '../wire.ts';

export const countText = (count: GangRow['groups']): string =>
  count === null ? '-' : `${count.ready}/${count.total}`;

/** A shape beside the word, so that a list can be skimmed without colour. */
const SHAPES: Readonly<Record<string, string>> = {
  ...{ Running: '●', Starting: '◐', Pending: '○', Missing: '✕', Failed: '✕', Succeeded: '✓' },
  ...{ Ready: '●', Placed: '●', NotReady: '✕', Finished: '✓', Deleting: '↓' },
  ...{ running: '●', succeeded: '✓', starting: '◐', failed: '✕', terminating: '↓', foreign: '◇' },
};

export const stateBadge = (state: string): JSX.Element =>
  h(
    'span',
    { class: `state state-${state.toLowerCase()}` },
    h('span', { 'aria-hidden': true }, `${SHAPES[state] ?? '○'} `),
    state,
  );

export const timeText = (at: string | null | undefined): JSX.Element | string =>
  at ? h('time', { dateTime: at }, new Date(at).toLocaleString()) : '-';

/** A table that scrolls by itself where the screen is narrow. */
export const table = (
  caption: string,
  heads: readonly string[],
  rows: readonly (readonly ComponentChildren[])[],
): JSX.Element =>
  h(
    'div',
    { class: 'wide', tabIndex: 0, role: 'region', 'aria-label': caption },
    h(
      'table',
      null,
      h('caption', null, caption),
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          heads.map((head) => h('th', { key: head, scope: 'col' }, head)),
        ),
      ),
      h(
        'tbody',
        null,
        rows.map((cells, index) =>
          h(
            'tr',
            { key: index },
            cells.map((cell, column) => h('td', { key: column }, cell)),
          ),
        ),
      ),
    ),
  );

/** An answer other than 200, with the server's words. */
export class NoAnswer extends Error {
  readonly code: string;

  constructor({ code, message, fix }: ErrorAnswer['error']) {
    super(`${message}. ${fix}`);
    this.code = code;
  }
}

/** Reads JSON of the server. @throws NoAnswer */
export async function answerOf<T>(path: string, given: RequestInit = {}): Promise<T> {
  const answer = await fetch(path, given);
  const body = (await answer.json()) as T | ErrorAnswer;
  if (answer.ok) return body as T;
  throw new NoAnswer((body as ErrorAnswer).error);
}
