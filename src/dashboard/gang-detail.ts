import type { BackendRegistry } from '../backends/registry.ts';
import type { GangView } from '../controller/watch/gang-view.ts';
import { ownList, ownObject, ownString, type JsonObject } from '../json/json.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { hpcOf } from '../status/brokers.ts';
import type { GangStatus } from '../status/gang-status.ts';
import { readTimelineInput } from '../status/read-timeline.ts';
import { readEventRecord } from '../timeline/event-record.ts';
import { timelineSvg } from '../timeline/timeline-svg.ts';
import { timelineOf, type TimelineInput } from '../timeline/timeline.ts';
import type { GangDetail, GangEvent, SchedulerObject } from './wire.ts';

/** Events of an answer; a gang that is tried every second has thousands. */
const MOST_EVENTS = 200;

/** A gang with what only its own page shows, which takes requests. @param now milliseconds since 1970 */
export async function gangDetail(
  gang: GangStatus,
  given: {
    readonly client: KubeClient;
    readonly view: GangView;
    readonly registry: BackendRegistry;
    readonly now: number;
  },
): Promise<GangDetail> {
  const { client, view } = given;
  const [hpc, input] = await Promise.all([hpcOf(client, view, gang), readTimelineInput(client, gang, given)]);
  const timeline = timelineOf(input);
  const { steps, waiting, unknown } = timeline;
  const events = eventsOf(input);
  return {
    gang: hpc === undefined ? gang : { ...gang, hpc },
    timeline: { steps, waiting: waiting ?? null, unknown, svg: timelineSvg(timeline) },
    objects: input.objects.map(schedulerObject),
    events: events.slice(0, MOST_EVENTS),
    eventsLeft: Math.max(0, events.length - MOST_EVENTS),
    eventsUnread: input.eventsUnread ?? null,
  };
}

/** Events of the gang, its Pods and its scheduler's objects, the newest first. */
function eventsOf({ gang, pods, objects, events }: TimelineInput): GangEvent[] {
  const uids = new Set(
    [gang, ...pods, ...objects].map((one) => ownString(ownObject(one, 'metadata'), 'uid')),
  );
  return events
    .flatMap((event) => readEventRecord(event) ?? [])
    .filter(({ uid }) => uids.has(uid))
    .sort((one, other) => other.last - one.last)
    .map(({ last, kind, name, warning, reason, note, count }) => ({
      ...{ at: new Date(last).toISOString(), of: `${kind}/${name}`, warning, reason, note, count },
    }));
}

function schedulerObject(object: JsonObject): SchedulerObject {
  const metadata = ownObject(object, 'metadata');
  const status = ownObject(object, 'status');
  return {
    kind: ownString(object, 'kind') ?? '',
    name: ownString(metadata, 'name') ?? '',
    created: ownString(metadata, 'creationTimestamp') ?? null,
    phase: ownString(status, 'phase') ?? '',
    conditions: (ownList(status, 'conditions') ?? []).map((condition) => {
      const text = (key: string): string => ownString(condition, key) ?? '';
      return { type: text('type'), status: text('status'), reason: text('reason'), message: text('message') };
    }),
  };
}
