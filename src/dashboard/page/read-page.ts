import { Component, h, type ComponentChildren, type JSX } from 'preact';
import { answerOf } from './words.ts';

const AGAIN_MS = 10_000;

interface Given<T> {
  readonly title: string;
  readonly path: string;
  readonly shown: (answer: T) => ComponentChildren;
}

interface Read<T> {
  readonly answer?: T | undefined;
  readonly wrong?: string | undefined;
}

/** A page of one answer of the server, which is asked again while somebody may look at it. */
export class ReadPage<T> extends Component<Given<T>, Read<T>> {
  override state: Read<T> = {};
  #timer: ReturnType<typeof setInterval> | undefined;
  #reading = false;

  override componentDidMount(): void {
    void this.#read();
    this.#timer = setInterval(() => {
      if (!document.hidden) void this.#read();
    }, AGAIN_MS);
  }

  override componentWillUnmount(): void {
    clearInterval(this.#timer);
  }

  /** Asks once at a time: the lists of a large fleet take long. */
  async #read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      this.setState({ answer: await answerOf<T>(this.props.path), wrong: undefined });
    } catch (error) {
      this.setState({ wrong: error instanceof Error ? error.message : String(error) });
    }
    this.#reading = false;
  }

  render({ title, shown }: Given<T>, { answer, wrong }: Read<T>): JSX.Element {
    return h(
      'div',
      { class: 'gang' },
      h('h1', { tabIndex: -1 }, title),
      wrong === undefined ? null : h('p', { class: 'stale', role: 'alert' }, wrong),
      answer === undefined ? null : shown(answer),
    );
  }
}
