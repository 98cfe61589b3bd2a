import { readGangRecord } from '../gang/read-records.ts';
import { initializedOf, isInitialized } from '../gang/rules/initialized.ts';
import { ownObject, ownString, type JsonObject } from '../json/json.ts';
import { kubeTime, parseKubeTime } from '../k8s/time.ts';
import { readEventRecord, type EventRecord } from './event-record.ts';
import { generationsOf, type Generation } from './generations.ts';
import { notKnown } from './not-known.ts';
import { lifeFromEvents, readPodLife, writtenAt, type PodLife } from './pod-life.ts';
import { gateOff, releasesOf, type Release } from './releases.ts';
import { generationSteps } from './generation-steps.ts';
import { gangSteps } from './gang-steps.ts';
import { LIFE_STEPS, type Known, type LifeStep } from './step.ts';
import { waitsNow } from './waits-now.ts';

export interface Timeline {
  readonly gang: { readonly namespace: string; readonly name: string };
  /** In order of time. */
  readonly steps: readonly LifeStep[];
  /** What the gang waits for now; absent where it waits for nothing. */
  readonly waiting?: { readonly since: string; readonly generation: number; readonly for: string };
  /** What is not known any more, or could not be read, a sentence each. */
  readonly unknown: readonly string[];
  /** What each Pod's lane in a picture is drawn from: by generation, then by name. */
  readonly generations: readonly Generation[];
  readonly now: string;
}

/** Objects as the API server has them, with `metadata.managedFields`. */
export interface TimelineInput {
  readonly namespace: string;
  readonly name: string;
  readonly gang: JsonObject | undefined;
  /** The Pods with the gang's label. */
  readonly pods: readonly JsonObject[];
  /** The scheduler's objects of the gang, with `kind`. */
  readonly objects: readonly JsonObject[];
  /** Events of the namespace; others than the gang's are left out. */
  readonly events: readonly JsonObject[];
  /** Milliseconds since 1970. */
  readonly now: number;
  /** What could not be read, a sentence each. */
  readonly unread?: readonly string[];
  /** Of these why Events could not. */
  readonly eventsUnread?: string | undefined;
}

/** The life of a gang so far, from what the API server still knows of it. Nothing is stored for it. */
export function timelineOf(input: TimelineInput): Timeline {
  const known = knownOf(input);
  const moments = [...gangSteps(known), ...known.generations.flatMap((one) => generationSteps(one, known))];
  moments.sort(
    (a, b) =>
      a.at - b.at ||
      a.generation - b.generation ||
      LIFE_STEPS.indexOf(a.step) - LIFE_STEPS.indexOf(b.step) ||
      ((a.pods[0] ?? '') < (b.pods[0] ?? '') ? -1 : 1),
  );
  const waiting = waitsNow(known, moments);
  return {
    gang: { namespace: input.namespace, name: input.name },
    steps: moments.map((moment) => ({ ...moment, at: kubeTime(moment.at) })),
    ...(waiting !== undefined && { waiting: { ...waiting, since: kubeTime(waiting.since) } }),
    unknown: [...(input.unread ?? []), ...notKnown(known, input.eventsUnread)],
    generations: known.generations,
    // The reader's clock may be behind the API server's.
    now: kubeTime(Math.max(input.now, ...moments.slice(-1).map(({ at }) => at))),
  };
}

function knownOf(input: TimelineInput): Known {
  const { gang: object, now } = input;
  const gang = object && readGangRecord(object);
  const lives = input.pods.map(readPodLife);
  const objects = input.objects.flatMap((one) => {
    const metadata = ownObject(one, 'metadata');
    const at = parseKubeTime(ownString(metadata, 'creationTimestamp'));
    const title = `${ownString(one, 'kind') ?? ''} ${ownString(metadata, 'name') ?? ''}`;
    return at === undefined ? [] : [{ title, uid: ownString(metadata, 'uid') ?? '', at }];
  });
  const all = input.events.flatMap((event) => readEventRecord(event) ?? []).sort((a, b) => a.at - b.at);
  const releases = releasesOf(all.filter(({ uid }) => uid !== '' && uid === gang?.uid));
  const gone = goneLives(all, lives, releases);
  const uids = new Set([gang?.uid, ...lives.map(({ uid }) => uid), ...objects.map(({ uid }) => uid)]);
  for (const { uid } of gone) uids.add(uid);
  const initialized =
    gang !== undefined && isInitialized(gang)
      ? parseKubeTime(initializedOf(gang)?.lastTransitionTime)
      : undefined;
  const released = [...lives, ...gone].map((life) => ({
    ...life,
    gateOff: gateOff(life, releases, initialized),
  }));
  return {
    gang,
    created: parseKubeTime(gang?.creationTimestamp),
    initialized,
    referenced: writtenAt(ownObject(object, 'metadata'), ['f:spec', 'f:podgroups']),
    objects,
    releases,
    events: all.filter(({ uid }) => uid !== '' && uids.has(uid)),
    generations: generationsOf(released, initialized),
    now,
  };
}

/** Pods that are gone and of which Events are left: of the names that were released, or that Pods have now. */
function goneLives(
  events: readonly EventRecord[],
  lives: readonly PodLife[],
  releases: readonly Release[],
): PodLife[] {
  const here = new Set(lives.map(({ uid }) => uid));
  const names = new Set([...lives.map(({ pod }) => pod), ...releases.flatMap(({ named }) => [...named])]);
  const about = events.filter(
    ({ kind, name, uid }) => kind === 'Pod' && uid !== '' && !here.has(uid) && names.has(name),
  );
  return [...Map.groupBy(about, ({ uid }) => uid).values()]
    .map(lifeFromEvents)
    .filter(({ bound, started, evicted, deleted }) =>
      [bound, started, evicted, deleted].some((at) => at !== undefined),
    );
}
