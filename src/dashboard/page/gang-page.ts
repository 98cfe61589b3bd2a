import { Component, h, type ComponentChildren, type JSX } from 'preact';
import type { GangDetail } from '../wire.ts';
import type { KnownGang } from './gang-store.ts';
import { PlanSection } from './gang-plan.ts';
import { answerOf, stateBadge, table, timeText } from './words.ts';

/** Pods of one table: a document of 10,000 rows answers slowly. */
const MOST_PODS = 1_000;
/** Milliseconds: Events come without a change of the gang. */
const AGAIN_MS = 30_000;
/** Milliseconds between two answers: each lists the Events of a namespace. */
const CALM_MS = 2_000;

interface Given {
  readonly namespace: string;
  readonly name: string;
  /** The gang's row, by which a change is noticed. */
  readonly row: KnownGang | undefined;
}

interface Read {
  readonly detail?: GangDetail | undefined;
  readonly wrong?: string | undefined;
}

/** One gang: why it does not move, its groups, its Pods, its Events. */
export class GangPage extends Component<Given, Read> {
  override state: Read = {};
  #reading = false;
  #again = false;
  #timer: ReturnType<typeof setInterval> | undefined;
  #calm: ReturnType<typeof setTimeout> | undefined;

  override componentDidMount(): void {
    void this.#read();
    this.#timer = setInterval(() => {
      if (!document.hidden) void this.#read();
    }, AGAIN_MS);
  }

  override componentDidUpdate({ row }: Given): void {
    if (row !== this.props.row) void this.#read();
  }

  override componentWillUnmount(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#calm);
  }

  /** Asks once at a time, and once more for what has changed meanwhile. */
  async #read(): Promise<void> {
    this.#again = this.#reading;
    if (this.#reading) return;
    this.#reading = true;
    const { namespace, name } = this.props;
    const path = `/api/v1/gangs/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
    try {
      this.setState({ detail: await answerOf<GangDetail>(path), wrong: undefined });
    } catch (error) {
      this.setState({ wrong: error instanceof Error ? error.message : String(error) });
    }
    this.#calm = setTimeout(() => {
      this.#reading = false;
      if (this.#again) void this.#read();
    }, CALM_MS);
  }

  render({ namespace, name, row }: Given, { detail, wrong }: Read): JSX.Element {
    const gang = detail?.gang;
    return h(
      'div',
      { class: 'gang' },
      h('h1', { tabIndex: -1 }, h('bdi', null, `${namespace}/${name}`)),
      wrong === undefined ? null : h('p', { class: 'stale', role: 'alert' }, wrong),
      row === undefined ? null : h('p', null, stateBadge(row.state), ' ', h('bdi', null, row.why)),
      gang === undefined ? null : this.#facts(gang),
      gang !== undefined && waitsForNode(gang)
        ? h(PlanSection, { namespace, name, groups: gang.summary?.groups ?? [] })
        : null,
      gang === undefined ? null : this.#groups(gang),
      gang === undefined ? null : this.#pods(gang),
      detail === undefined ? null : this.#timeline(detail),
      detail === undefined ? null : this.#objects(detail),
      detail === undefined ? null : this.#events(detail),
    );
  }

  #facts({ backend, creationTimestamp, summary, hpc }: GangDetail['gang']): JSX.Element {
    const facts: readonly (readonly [string, JSX.Element | string])[] = [
      ['Scheduler', backend],
      ['Created', timeText(creationTimestamp)],
      ...(summary?.workload === undefined ? [] : [['Workload', summary.workload] as const]),
      ...(hpc === undefined ? [] : [['HPCPolicy', `${hpc.policy} ${hpc.why}`] as const]),
    ];
    return h(
      'dl',
      null,
      facts.map(([what, value]) => h('div', { key: what }, h('dt', null, what), h('dd', null, value))),
    );
  }

  #groups({ summary }: GangDetail['gang']): JSX.Element | null {
    if (summary === undefined) return null;
    return table(
      'Groups',
      ['Group', 'Minimum', 'Pods', 'Gated', 'Bound', 'Ready'],
      summary.groups.map(({ name, minReplicas, expected, present, gated, bound, ready }) => [
        ...[name, minReplicas, `${present}/${expected}`, gated, bound, ready],
      ]),
    );
  }

  #pods({ pods }: GangDetail['gang']): JSX.Element {
    const left = pods.length - MOST_PODS;
    return h(
      'section',
      null,
      table(
        'Pods',
        ['Pod', 'Group', 'State', 'Node', 'Reason'],
        pods
          .slice(0, MOST_PODS)
          .map(({ name, group, state, node, reason }) => [name, group, stateBadge(state), node, reason]),
      ),
      left > 0 ? h('p', null, `${left} more Pods: muster status has all of them.`) : null,
    );
  }

  #timeline({
    gang: { namespace, name },
    timeline: { steps, waiting, unknown, svg },
  }: GangDetail): JSX.Element {
    const alt = `The timeline of ${namespace}/${name}, as in the table of steps`;
    return h(
      'section',
      null,
      table(
        'Timeline',
        ['Time', 'Step', 'Generation', 'Pods', 'Waited for'],
        steps.map(({ at, step, generation, pods, waitedFor, says }) => [
          ...[timeText(at), step, generation, namesText(pods)],
          [waitedFor, says].filter(Boolean).join(': ') || '-',
        ]),
      ),
      steps.length === 0
        ? null
        : h(
            'div',
            { class: 'wide', tabIndex: 0, role: 'region', 'aria-label': 'Chart of the timeline' },
            // As an image it runs nothing and loads nothing, whatever is in it.
            h('img', { src: `data:image/svg+xml,${encodeURIComponent(svg)}`, alt }),
          ),
      waiting === null || waiting === undefined
        ? null
        : h('p', null, 'Waits since ', timeText(waiting.since), ` for ${waiting.for}`),
      unknown.length === 0
        ? null
        : h(
            'ul',
            null,
            unknown.map((one) => h('li', { key: one }, `Not known: ${one}`)),
          ),
    );
  }

  #objects({ objects }: GangDetail): JSX.Element | null {
    if (objects.length === 0) return null;
    return table(
      'Objects of the scheduler',
      ['Object', 'Created', 'Phase', 'Conditions'],
      objects.map(({ kind, name, created, phase, conditions }) => [
        ...[`${kind}/${name}`, timeText(created), phase || '-'],
        conditions
          .map(({ type, status, reason, message }) =>
            [`${type} ${status}`, reason, message].filter(Boolean).join(': '),
          )
          .join('; ') || '-',
      ]),
    );
  }

  #events({ events, eventsLeft, eventsUnread }: GangDetail): JSX.Element {
    // An empty table would say that there are none.
    if (eventsUnread !== null)
      return h(
        'section',
        { 'aria-label': 'Events' },
        h('p', null, h('strong', null, 'Events'), ` Not known: ${eventsUnread}`),
      );
    return h(
      'section',
      null,
      table(
        'Events',
        ['Time', 'Of', 'Type', 'Reason', 'Note'],
        events.map(({ at, of, warning, reason, note, count }) => [
          ...[timeText(at), h('span', { class: 'word' }, of), warning ? 'Warning' : 'Normal', reason],
          count > 1 ? `${note} (${count} times)` : note,
        ]),
      ),
      events.length === 0 ? h('p', null, 'None is known; an API server keeps them for an hour.') : null,
      eventsLeft === 0 ? null : h('p', null, `${eventsLeft} older Events are left out.`),
    );
  }
}

/** Whether the gang has a Pod without a node: only then there is something to plan. */
const waitsForNode = ({ summary, pods }: GangDetail['gang']): boolean =>
  summary !== undefined && pods.some(({ node }) => node === '');

/** Names of a step's Pods, as far as they are read; none is broken at its hyphens. */
function namesText(pods: readonly string[]): ComponentChildren {
  if (pods.length === 0) return '-';
  const shown = pods.slice(0, pods.length > 3 ? 2 : 3);
  return [
    ...shown.flatMap((name, index) => [index > 0 ? ', ' : '', h('span', { class: 'word' }, name)]),
    ...(pods.length > 3 ? [` and ${pods.length - 2} more`] : []),
  ];
}
