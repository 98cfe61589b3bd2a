import { h, type JSX } from 'preact';
import type { KnownGang } from './gang-store.ts';
import { hashOf } from './route.ts';
import { table } from './words.ts';

/** What gangs of one namespace or queue come to. */
interface Load {
  gangs: number;
  waiting: number;
  ready: number;
  pods: number;
  gated: number;
  gpus: number;
  readonly reasons: Map<string, number>;
}

/** How many gangs wait in each namespace and in each queue, for what, and what their gated Pods ask for. */
export const LoadPage = ({ gangs }: { readonly gangs: readonly KnownGang[] }): JSX.Element => {
  const namespaces = loads(gangs, ({ namespace }) => namespace);
  const queues = loads(gangs, ({ queue, backend }) => (queue === null ? undefined : `${queue} (${backend})`));
  return h(
    'div',
    { class: 'gang' },
    h('h1', { tabIndex: -1 }, 'Load'),
    loadTable('Namespaces', 'Namespace', namespaces, (name) =>
      h('a', { href: hashOf({ page: 'gangs', search: `${name}/`, state: '' }) }, name),
    ),
    queues.length === 0
      ? h('p', null, 'No PodGang names a queue of its scheduler.')
      : loadTable('Queues of schedulers', 'Queue', queues, (name) => name),
  );
};

/** The most GPUs first, then the most gangs that wait. */
function loads(
  gangs: readonly KnownGang[],
  nameOf: (gang: KnownGang) => string | undefined,
): readonly (readonly [name: string, load: Load])[] {
  const found = new Map<string, Load>();
  for (const gang of gangs) {
    const name = nameOf(gang);
    if (name === undefined) continue;
    const load = found.get(name) ?? none();
    found.set(name, load);
    const { pods, gated, gatedGpus, waitsFor } = gang;
    load.gangs += 1;
    load.ready += pods?.ready ?? 0;
    load.pods += pods?.total ?? 0;
    load.gated += gated;
    load.gpus += gatedGpus;
    if (waitsFor === null) continue;
    load.waiting += 1;
    load.reasons.set(waitsFor, (load.reasons.get(waitsFor) ?? 0) + 1);
  }
  return [...found].sort(
    ([one, a], [other, b]) => b.gpus - a.gpus || b.waiting - a.waiting || (one < other ? -1 : 1),
  );
}

const none = (): Load => ({
  ...{ gangs: 0, waiting: 0, ready: 0, pods: 0, gated: 0, gpus: 0 },
  reasons: new Map(),
});

const loadTable = (
  caption: string,
  what: string,
  rows: ReturnType<typeof loads>,
  named: (name: string) => JSX.Element | string,
): JSX.Element =>
  table(
    caption,
    [what, 'Gangs', 'Waiting', 'Pods ready', 'Gated Pods', 'Their GPUs', 'Waiting for'],
    rows.map(([name, { gangs, waiting, ready, pods, gated, gpus, reasons }]) => [
      ...[h('bdi', null, named(name)), gangs, waiting, `${ready}/${pods}`, gated, gpus],
      [...reasons].map(([reason, count]) => `${reason} (${count})`).join(', ') || '-',
    ]),
  );
