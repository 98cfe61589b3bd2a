import { Component, createRef, h, type JSX } from 'preact';
import { hashOf } from './route.ts';
import type { KnownGang } from './gang-store.ts';
import { countText, stateBadge } from './words.ts';

/** Rows above and below what is seen, so that a quick scroll shows no gap. */
const MORE = 8;
/** Height of a row in units of the root's font: as `--row` of the style. */
const ROW_REM = 4.5;

interface Given {
  readonly gangs: readonly KnownGang[];
}

interface Seen {
  readonly top: number;
  readonly height: number;
  readonly row: number;
}

/** A list of any length, of which the document has only the rows that are seen. */
export class GangList extends Component<Given, Seen> {
  override state: Seen = { top: 0, height: window.innerHeight, row: rowHeight() };
  readonly #box = createRef<HTMLDivElement>();
  #focused = -1;
  readonly #resized = new ResizeObserver(() => this.#look());

  override componentDidMount(): void {
    if (this.#box.current !== null) this.#resized.observe(this.#box.current);
    document.addEventListener('keydown', this.#key);
  }

  override componentWillUnmount(): void {
    this.#resized.disconnect();
    document.removeEventListener('keydown', this.#key);
  }

  readonly #look = (): void => {
    const box = this.#box.current;
    if (box !== null) this.setState({ top: box.scrollTop, height: box.clientHeight, row: rowHeight() });
  };

  readonly #key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { target, key } = event;
    const typing = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
    if (typing && !(target instanceof HTMLInputElement && key === 'ArrowDown')) return;
    const last = this.props.gangs.length - 1;
    const steps: Record<string, number> = {
      ...{ ArrowDown: this.#focused + 1, j: this.#focused + 1, ArrowUp: this.#focused - 1 },
      ...{ k: this.#focused - 1, Home: 0, End: last },
    };
    const wanted = steps[key];
    if (wanted === undefined || last < 0) return;
    event.preventDefault();
    this.#focus(Math.min(last, Math.max(0, wanted)));
  };

  #focus(index: number): void {
    const box = this.#box.current;
    if (box === null) return;
    const { row } = this.state;
    this.#focused = index;
    if (index * row < box.scrollTop) box.scrollTop = index * row;
    if ((index + 1) * row > box.scrollTop + box.clientHeight)
      box.scrollTop = (index + 1) * row - box.clientHeight;
    const { scrollTop: top, clientHeight: height } = box;
    this.setState({ top, height, row }, () =>
      box.querySelector<HTMLElement>(`[aria-posinset="${index + 1}"] a`)?.focus({ preventScroll: true }),
    );
  }

  render({ gangs }: Given, { top, height, row }: Seen): JSX.Element {
    const from = Math.max(0, Math.floor(top / row) - MORE);
    const rows = gangs.slice(from, Math.ceil((top + height) / row) + MORE);
    return h(
      'div',
      { class: 'rows', ref: this.#box, onScroll: this.#look },
      h(
        'div',
        { class: 'all', role: 'list', 'aria-label': 'Gangs', style: { height: `${gangs.length * row}px` } },
        rows.map((gang, index) => this.#row(gang, from + index, gangs.length)),
      ),
    );
  }

  #row(gang: KnownGang, index: number, count: number): JSX.Element {
    const { key, namespace, name, why, groups, pods, gated, backend, workload } = gang;
    const parts = [
      `groups ${countText(groups)}`,
      `Pods ${countText(pods)}`,
      ...(gated > 0 ? [`${gated} gated`] : []),
      backend,
      ...(workload === null ? [] : [workload]),
    ];
    return h(
      'div',
      {
        key,
        class: 'row',
        role: 'listitem',
        'aria-posinset': index + 1,
        'aria-setsize': count,
        style: { transform: `translateY(${index * this.state.row}px)` },
      },
      h(
        'a',
        { href: hashOf({ page: 'gang', namespace, name }), onFocus: () => (this.#focused = index) },
        h('span', { class: 'name' }, h('bdi', null, `${namespace}/${name}`)),
        stateBadge(gang.state),
        why === '' ? null : h('span', { class: 'why' }, h('bdi', null, why)),
        h('span', { class: 'counts' }, parts.join(' · ')),
      ),
    );
  }
}

function rowHeight(): number {
  return ROW_REM * parseFloat(getComputedStyle(document.documentElement).fontSize);
}
