import type { BackendRegistry } from '../../backends/registry.ts';
import { messageOf } from '../../errors.ts';
import { kubeTime } from '../../k8s/time.ts';
import type { Clock } from '../../kube/client/clock.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Changed, Moment } from '../../status/moment.ts';
import { readTimelineInput } from '../../status/read-timeline.ts';
import { printable } from '../../text/printable.ts';
import { timelineOf, type TimelineInput } from '../../timeline/timeline.ts';
import { timelineScreen } from '../timeline/render.ts';
import { wrapped, type Line } from './table.ts';

/** Milliseconds between two readings: each lists the Events of a namespace, which also come without a change of the gang. */
const CALM_MS = 2_000;
const AGAIN_MS = 10_000;
const MOST_SAID = 1_024;

interface Given {
  readonly client: KubeClient;
  readonly registry: BackendRegistry;
  readonly clock: Clock;
}

type Place = Pick<Moment['gangs'][number], 'namespace' | 'name'>;

/** The timeline of the one gang that is watched, read beside the watch; whatever fails there only is said. */
export class LiveTimeline {
  readonly #given: Given;
  #read: TimelineInput | undefined;
  #failed: string | undefined;
  #isReading = false;
  #askedAt = -Infinity;
  #isDue = true;
  #soon = (): void => undefined;

  constructor(given: Given) {
    this.#given = given;
  }

  /** @param soon called when there is something new to show */
  onRead(soon: () => void): void {
    this.#soon = soon;
  }

  /** The lines at this moment; none where several namespaces have a gang of the name. */
  readonly beneath = (moment: Moment, changed: readonly Changed[], width: number): Line[] => {
    const [gang, ...others] = moment.gangs;
    this.#isDue ||= changed.length > 0;
    if (gang === undefined || others.length > 0) {
      this.#read = undefined;
      return [];
    }
    this.#readWhereDue(gang, moment.now);
    return [...this.#known(gang, moment, width), ...this.#trouble(width)];
  };

  #known(gang: Place, { now }: Moment, width: number): Line[] {
    const input = this.#read;
    const isOfGang = input?.name === gang.name && input.namespace === gang.namespace;
    if (!isOfGang || (input.gang === undefined && input.pods.length === 0)) return [];
    // After a failure nobody knows whether what ran then still runs.
    return timelineScreen(timelineOf(this.#failed === undefined ? { ...input, now } : input), width);
  }

  #trouble(width: number): Line[] {
    if (this.#failed === undefined) return [];
    const since =
      this.#read === undefined ? 'the timeline' : `the timeline since ${kubeTime(this.#read.now)}`;
    return wrapped(`not known: ${since}: ${printable(this.#failed, MOST_SAID)}`, width);
  }

  #readWhereDue({ namespace, name }: Place, now: number): void {
    const { client, registry, clock } = this.#given;
    const age = clock.now() - this.#askedAt;
    if (this.#isReading || age < (this.#isDue ? CALM_MS : AGAIN_MS)) return;
    this.#isReading = true;
    this.#isDue = false;
    this.#askedAt = clock.now();
    void readTimelineInput(client, { namespace, name }, { registry, now })
      .then(
        (input) => {
          this.#read = input;
          this.#failed = undefined;
        },
        (error: unknown) => {
          this.#failed = messageOf(error);
        },
      )
      .finally(() => {
        this.#isReading = false;
        this.#soon();
      });
  }
}
