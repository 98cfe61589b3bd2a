import { Component, createRef, h, render, type FunctionComponent, type JSX } from 'preact';
import type { GangChanges } from '../wire.ts';
import { BackendsPage } from './backends-page.ts';
import { FleetPage } from './fleet-page.ts';
import { GangList } from './gang-list.ts';
import { GangPage } from './gang-page.ts';
import { matching, GangStore } from './gang-store.ts';
import { LoadPage } from './load-page.ts';
import { hashOf, OTHER_PAGES, routeOf, type OtherPageName, type Route } from './route.ts';
import { openStream, readStream } from './first-stream.ts';
import { QueuesPage } from './queues-page.ts';
import { SignIn, signOut } from './sign-in.ts';
import { answerOf, NoAnswer, timeText } from './words.ts';

interface Shown {
  readonly route: Route;
  /** Counts the messages: what is shown of the store is read anew. */
  readonly version: number;
  /** Why there is no data. */
  readonly wrong: string | undefined;
  /** Whether the server wants to know who asks. */
  readonly unknown: boolean;
  /** Why it does, of somebody whom it knew. */
  readonly over: string | undefined;
}

/** Pages of one answer each. */
const READ: Readonly<Record<Exclude<OtherPageName, 'load'>, FunctionComponent>> = {
  queues: QueuesPage,
  fleet: FleetPage,
  backends: BackendsPage,
};

/** Milliseconds until a stream is asked for again that was refused. */
const AGAIN_MS = 3_000;

/** The whole page. */
class Page extends Component<object, Shown> {
  override state: Shown = {
    ...{ route: routeOf(location.hash), version: 0, wrong: undefined },
    ...{ unknown: false, over: undefined },
  };
  readonly #store = new GangStore();
  readonly #search = createRef<HTMLInputElement>();

  override componentDidMount(): void {
    addEventListener('hashchange', () => {
      this.setState({ route: routeOf(location.hash) }, () =>
        document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true }),
      );
    });
    document.addEventListener('keydown', (event) => this.#key(event));
    this.#watch();
  }

  /** The browser itself connects again; the server then begins with all gangs. */
  #watch(): void {
    let begins = true;
    const message = (data: string): void => {
      if (begins) this.#store.clear();
      begins = false;
      this.#store.apply(JSON.parse(data) as GangChanges);
      this.setState(({ version }) => ({ version: version + 1, wrong: undefined, unknown: false }));
    };
    const failed = async (source: EventSource): Promise<void> => {
      begins = true;
      try {
        // An answer that is no stream ends it, and only another request tells why.
        await answerOf('/api/v1/gangs');
      } catch (error) {
        if (error instanceof NoAnswer && error.code === 'SIGN_IN') {
          source.close();
          const over = this.#store.left === undefined ? undefined : error.message;
          this.#store.clear();
          this.setState({ unknown: true, wrong: undefined, over });
          return;
        }
        const known = error instanceof TypeError ? 'muster dashboard has ended.' : String(error);
        this.setState({ wrong: known.replace(/^Error: /, '') });
      }
      if (source.readyState === EventSource.CLOSED) setTimeout(openStream, AGAIN_MS);
    };
    readStream({ message, error: (source) => void failed(source) });
  }

  #key(event: KeyboardEvent): void {
    const { key, target } = event;
    const typing = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
    if (key === '/' && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      this.#toSearch();
    }
    if (key === 'Escape') {
      if (this.state.route.page !== 'gangs') history.back();
      else if (target === this.#search.current) this.#search.current?.blur();
    }
  }

  /** At once, so that what is typed next goes there. */
  #toSearch(): void {
    const focus = (): void => this.#search.current?.focus();
    if (this.state.route.page === 'gangs') {
      focus();
      return;
    }
    history.pushState(null, '', '#/gangs');
    this.setState({ route: routeOf(location.hash) }, focus);
  }

  /** Typing changes the address and leaves no step behind for the button back. */
  #narrow(change: { search?: string; state?: string }): void {
    const { route } = this.state;
    if (route.page !== 'gangs') return;
    const next = { ...route, ...change };
    history.replaceState(null, '', hashOf(next));
    this.setState({ route: next });
  }

  render(_: object, { route, wrong, unknown, over }: Shown): JSX.Element {
    document.title = `${route.page === 'gang' ? `${route.namespace}/${route.name}` : route.page === 'gangs' ? 'Gangs' : OTHER_PAGES[route.page]} - Muster`;
    const link = (to: Route, text: string): JSX.Element =>
      h('a', { href: hashOf(to), 'aria-current': route.page === to.page ? 'page' : undefined }, text);
    const others = Object.entries(OTHER_PAGES) as [OtherPageName, string][];
    return h(
      'div',
      { class: 'page' },
      h(
        'header',
        null,
        h(
          'nav',
          { 'aria-label': 'Pages' },
          link({ page: 'gangs', search: '', state: '' }, 'Gangs'),
          others.map(([page, text]) => link({ page }, text)),
          signsIn && !unknown && h('button', { type: 'button', onClick: () => void signOut() }, 'Sign out'),
        ),
      ),
      this.#notice(wrong),
      h('main', null, unknown ? h(SignIn, { over }) : this.#main(route)),
    );
  }

  #notice(wrong: string | undefined): JSX.Element {
    const { stale } = this.#store;
    const text =
      wrong ??
      (stale === null
        ? null
        : ['Not up to date since ', timeText(stale.since), `: ${stale.message}. Muster tries again.`]);
    return h('div', { role: 'status', class: text === null ? '' : 'stale' }, text);
  }

  #main(route: Route): JSX.Element {
    if (route.page === 'gangs') return this.#gangs(route);
    if (route.page === 'load') return h(LoadPage, { gangs: this.#store.sorted });
    if (route.page !== 'gang') return h(READ[route.page], null);
    const { namespace, name } = route;
    return h(GangPage, {
      key: `${namespace}/${name}`,
      namespace,
      name,
      row: this.#store.get(namespace, name),
    });
  }

  #gangs({ search, state }: Extract<Route, { page: 'gangs' }>): JSX.Element {
    const store = this.#store;
    const gangs = matching(store.sorted, search, state);
    const counts = store.counts();
    const all = counts.reduce((sum, [, count]) => sum + count, 0);
    const told =
      store.left === undefined
        ? 'reading …'
        : `${gangs.length} of ${all + store.left} gangs${all === 0 ? ': none in what you may read' : ''}`;
    return h(
      'div',
      { class: 'gangs' },
      h('h1', { tabIndex: -1, class: 'unseen' }, 'Gangs'),
      h(
        'form',
        { role: 'search', onSubmit: (event: Event) => event.preventDefault() },
        h('input', {
          ref: this.#search,
          type: 'search',
          value: search,
          'aria-label': 'Search gangs',
          placeholder: 'Search (/)',
          onInput: (event: Event) => this.#narrow({ search: (event.target as HTMLInputElement).value }),
        }),
        h(
          'select',
          {
            'aria-label': 'State',
            value: state,
            onChange: (event: Event) => this.#narrow({ state: (event.target as HTMLSelectElement).value }),
          },
          h('option', { value: '' }, 'All states'),
          counts.map(([one, count]) => h('option', { key: one, value: one }, `${one} (${count})`)),
        ),
        h('output', null, told),
      ),
      h(GangList, { gangs }),
    );
  }
}

const root = document.getElementById('page');
const signsIn = root?.dataset['signsIn'] === 'true';
if (root !== null) render(h(Page, null), root);
