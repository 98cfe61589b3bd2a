import type { EventRecord } from './event-record.ts';
import { bornAt, type Generation } from './generations.ts';
import { isEviction } from './pod-life.ts';
import type { Known, DatedStep } from './step.ts';

/** A refusal of the scheduler, with when it was said last. */
interface Refusal {
  readonly at: number;
  readonly says: string;
  readonly pods: readonly string[];
  readonly times: number;
}

/** The refusals of one generation, the earliest first; the same words are one refusal, however often they were said. */
export function schedulerRefusals(
  { number, lives }: Generation,
  { events, objects, generations, gang }: Known,
): DatedStep[] {
  const born = Math.min(...lives.map(bornAt));
  const index = generations.findIndex((one) => one.number === number);
  const next = generations[index + 1];
  const until = next === undefined ? Infinity : Math.min(...next.lives.map(bornAt));
  const uids = new Set(lives.map(({ uid }) => uid));
  const made = new Set(objects.map(({ uid }) => uid));
  const inTime = ({ at }: EventRecord): boolean => at >= born && at < until;
  const ofPods = events.filter((event) => event.warning && uids.has(event.uid) && isRefusal(event));
  const ofObjects = events.filter((event) => event.warning && made.has(event.uid) && inTime(event));
  const said = [
    ...ofPods.map((one) => refusalOf(one, [one.name])),
    ...ofObjects.map((one) => refusalOf(one, [])),
  ];
  // Where the scheduler's own Events are gone, the conditions of the Pods have its last words.
  const conditions = lives.flatMap(({ pod, refused }) =>
    refused === undefined || said.some(({ says }) => says === refused.says)
      ? []
      : [{ ...refused, pods: [pod], times: 1 }],
  );
  const all = [...said, ...conditions];
  // The loop repeats what schedulers without Events say.
  const repeated =
    all.length > 0
      ? all
      : events
          .filter((event) => event.uid === gang?.uid && event.reason === 'Unschedulable' && inTime(event))
          .map((one) => refusalOf(one, []));
  return [...Map.groupBy(repeated, ({ says }) => says)]
    .map(([says, same]): DatedStep => {
      const times = Math.max(...same.map((one) => one.times));
      return {
        at: Math.min(...same.map(({ at }) => at)),
        step: 'refused',
        generation: number,
        pods: [...new Set(same.flatMap(({ pods }) => pods))].sort(),
        waitedFor: 'the scheduler',
        says: times > 1 ? `${says} (${times} times)` : says,
      };
    })
    .sort((a, b) => a.at - b.at);
}

const refusalOf = ({ at, note, reason, count }: EventRecord, pods: readonly string[]): Refusal => ({
  at,
  says: note === '' ? reason : note,
  pods,
  times: count,
});

/** kube-scheduler, Volcano and KAI all warn about Pods; others than schedulers do too, by their own reasons. */
const isRefusal = (event: EventRecord): boolean =>
  /^(FailedScheduling|Unschedulable|NotEnoughResources|.*Unschedulable)$/.test(event.reason) &&
  !isEviction(event);
