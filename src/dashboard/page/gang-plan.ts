import { Component, h, type JSX } from 'preact';
import type { PlanAnswer, PlannedGang } from '../wire.ts';
import { planWords, unitName } from './plan-words.ts';
import { answerOf, table, timeText } from './words.ts';

/** Rows of one table. */
const MOST_ROWS = 200;
/** Groups whose minimum can be written. */
const MOST_GROUPS = 50;

interface PlanProps {
  readonly namespace: string;
  readonly name: string;
  readonly groups: readonly { readonly name: string; readonly minReplicas: number }[];
}

type PlanVariant = PlannedGang['variant'];

/** How a choice of the algorithm reads. */
const VARIANT_NAMES: Readonly<Record<PlanVariant, string>> = {
  kep: 'KEP-5710',
  'kube-1.36': 'kube-scheduler 1.36',
  'kube-1.37': 'kube-scheduler 1.37',
};

interface PlanState {
  readonly variant: PlanVariant;
  /** What was written for a group, in place of its minimum. */
  readonly written: Readonly<Record<string, string>>;
  readonly asking?: boolean | undefined;
  readonly found?: PlanAnswer | undefined;
  readonly wrong?: string | undefined;
}

/** A button that asks whether the gang would fit now, and the answer: it lists the whole cluster, so nothing asks by itself. */
export class PlanSection extends Component<PlanProps, PlanState> {
  override state: PlanState = { variant: 'kep', written: {} };
  readonly #gone = new AbortController();

  override componentWillUnmount(): void {
    this.#gone.abort();
  }

  async #ask(): Promise<void> {
    if (this.state.asking === true) return;
    this.setState({ asking: true, found: undefined, wrong: undefined });
    const { namespace, name } = this.props;
    const query = new URLSearchParams({ variant: this.state.variant });
    for (const [group, minimum] of Object.entries(this.state.written))
      if (minimum !== '') query.append('minimum', `${group}=${minimum}`);
    const path = `/api/v1/gangs/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}/plan?${query.toString()}`;
    try {
      this.setState({ found: await answerOf<PlanAnswer>(path, { signal: this.#gone.signal }) });
    } catch (error) {
      this.setState({ wrong: error instanceof Error ? error.message : String(error) });
    }
    this.setState({ asking: false });
  }

  /** An answer of another algorithm is none of this one. */
  #choose(variant: string): void {
    this.setState({ variant: variant as PlanVariant, found: undefined, wrong: undefined });
  }

  #write(group: string, minimum: string): void {
    const written = { ...this.state.written, [group]: minimum };
    this.setState({ written, found: undefined, wrong: undefined });
  }

  render({ groups }: PlanProps, { variant, written, asking, found, wrong }: PlanState): JSX.Element {
    return h(
      'section',
      null,
      // A disabled button would lose the focus.
      h(
        'button',
        { type: 'button', 'aria-disabled': asking === true, onClick: () => void this.#ask() },
        'Would it fit now?',
      ),
      h(
        'label',
        null,
        ' as planned by ',
        h(
          'select',
          {
            value: variant,
            onChange: (event: Event) => this.#choose((event.target as HTMLSelectElement).value),
          },
          Object.entries(VARIANT_NAMES).map(([value, text]) => h('option', { key: value, value }, text)),
        ),
      ),
      h(
        'details',
        null,
        h('summary', null, 'With another minimum'),
        groups.slice(0, MOST_GROUPS).map(({ name, minReplicas }) =>
          h(
            'label',
            { key: name },
            'minReplicas of ',
            h('bdi', null, name),
            ' ',
            h('input', {
              type: 'number',
              min: 0,
              max: 9_999_999,
              value: written[name] ?? String(minReplicas),
              onInput: (event: Event) => this.#write(name, (event.target as HTMLInputElement).value),
            }),
          ),
        ),
      ),
      h('div', { role: 'status' }, this.#answer({ asking, found, wrong })),
      found?.plan ? planTables(found.plan) : null,
    );
  }

  #answer({
    asking,
    found,
    wrong,
  }: Omit<PlanState, 'variant' | 'written'>): JSX.Element | readonly JSX.Element[] | null {
    if (asking === true) return h('p', null, 'Reading the cluster and planning …');
    if (wrong !== undefined) return h('p', { class: 'stale' }, wrong);
    if (found === undefined) return null;
    return [
      ...planWords(found).map((text) => h('p', { key: text }, h('bdi', null, text))),
      h(
        'p',
        { key: 'at' },
        'As of ',
        timeText(found.at),
        found.plan === null ? '' : `, as planned by ${VARIANT_NAMES[found.plan.variant]}`,
        '; nothing was changed.',
      ),
    ];
  }
}

function planTables({
  victims,
  rejected,
  placement,
  feasible,
}: PlannedGang): readonly (JSX.Element | null)[] {
  return [
    ofMany(
      'Who would have to make room',
      ['Unit', 'Priority', 'Pods', 'Why'],
      victims.map((one) => [unitName(one), one.priority, one.pods.length, one.why]),
    ),
    ofMany(
      'Nodes that do not take it',
      ['Node', 'Why'],
      feasible ? [] : rejected.map(({ node, message }) => [node, message]),
    ),
    ofMany('Where its Pods would run', ['Pod', 'Node'], Object.entries(placement)),
  ];
}

function ofMany(
  caption: string,
  heads: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): JSX.Element | null {
  if (rows.length === 0) return null;
  const left = rows.length - MOST_ROWS;
  return h(
    'div',
    { key: caption },
    table(caption, heads, rows.slice(0, MOST_ROWS)),
    left > 0 ? h('p', null, `${left} more: the JSON of the plan has all of them.`) : null,
  );
}
