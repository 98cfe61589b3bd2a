import { isOfEarlier } from '../gang-workload.ts';
import type { GangRecord, GangState, PodRecord } from '../records.ts';
import { OF_THE_GENERATION_BEFORE } from './holds.ts';
import { byName, hasEnded, isBound, isGated, isLive, shortfall, type GroupCensus } from './census.ts';
import type { Hold } from './conditions.ts';
import { placed } from './why.ts';

/** The released Pods of a gang, by generation. */
interface Generation {
  /** Live released Pods that have not ended. While there is one, its generation is the one that runs. */
  readonly running: readonly PodRecord[];
  /** Pods of an earlier generation that the scheduler still counts for the gang. */
  readonly former: readonly PodRecord[];
}

/**
 * Separates the Pods of the generation that runs from those of earlier generations.
 *
 * 1. Pods that were released and have not ended run.
 * 2. If Pods have revisions, the newest gated Pod has the newest revision: released Pods of another revision are former.
 * 3. Workers are created after their leader, so released Pods older than a gated leader belong to the leader before.
 * 4. Bound Pods of an earlier workload of the same name are former, since a scheduler counts by the gang's name.
 * 5. Bound Pods that are being deleted are former if the scheduler counts them until they are gone.
 */
function generationOf(
  { backend, pods }: Pick<GangState, 'backend' | 'pods'>,
  gang: GangRecord,
  census: readonly GroupCensus[],
): Generation {
  const live = census.flatMap(({ members }) => members);
  const revision = newestRevision(live);
  const released = live.filter((pod) => !isGated(pod) && !hasEnded(pod));
  const leader = live.findLast((pod) => pod.leads && isGated(pod))?.creationTimestamp ?? '';
  const isFormer = (pod: PodRecord): boolean =>
    (revision !== undefined && pod.revision !== undefined && pod.revision !== revision) ||
    // Workers are created after their leader, so workers older than a gated leader belong to the leader before.
    (pod.revision !== undefined && (pod.creationTimestamp ?? '') < leader);
  // A scheduler counts Pods by the gang's name, and so also bound Pods of a deleted workload of the same name.
  const left = pods.filter((pod) => hasName(gang, pod) && isBound(pod) && !hasEnded(pod)).sort(byName);
  const leaving = left.filter((pod) => !isLive(pod));
  const bereft = left.filter((pod) => isLive(pod) && !isGated(pod) && isOfEarlier(gang, pod.origin));
  return {
    running: released.filter((pod) => !isFormer(pod)),
    // A Pod that was never bound is gone as soon as it is deleted, and the scheduler never counted it as placed.
    former: [...released.filter(isFormer), ...bereft, ...(backend.countsEnding === true ? leaving : [])],
  };
}

const hasName = ({ namespace, name }: GangRecord, pod: PodRecord): boolean =>
  pod.namespace === namespace && pod.gang === name;

/** The revision of the newest gated Pod; undefined where Pods have no revisions, or no Pod is gated. */
function newestRevision(live: readonly PodRecord[]): string | undefined {
  let newest: PodRecord | undefined;
  for (const pod of live) {
    if (pod.revision === undefined || !isGated(pod)) continue;
    if ((newest?.creationTimestamp ?? '') <= (pod.creationTimestamp ?? '')) newest = pod;
  }
  return newest?.revision;
}

/**
 * Why the Pods of an Initialized gang's next generation wait; undefined where no Pod is gated, or gated Pods only join a
 * generation that runs.
 * @param expected how many Pods each group waits for, in the order of the census: as many as at the gang's first start
 */
export function generationHold(
  state: Pick<GangState, 'backend' | 'pods' | 'countsWhatIsLeft'>,
  gang: GangRecord,
  census: readonly GroupCensus[],
  expected: readonly number[],
): Hold | undefined {
  if (!census.some(({ members }) => members.some(isGated))) return undefined;
  const { running, former } = generationOf(state, gang, census);
  if (running.length > 0) return undefined;
  const isNext = (pod: PodRecord): boolean =>
    isGated(pod) ||
    // A Pod that has succeeded counts, except where the gang's minimum already leaves out finished Pods, as that of a Job
    // does.
    (pod.phase === 'Succeeded' && !state.countsWhatIsLeft);
  const asked = ({ index, minReplicas }: GroupCensus): number => expected[index] ?? minReplicas;
  const count = (group: GroupCensus, counts: (pod: PodRecord) => boolean): number =>
    group.present.filter((pod) => isNext(pod) && counts(pod)).length;
  const missing = shortfall(census, (group) => count(group, () => true), asked);
  const unnamed = census.some(
    (group) => count(group, ({ name }) => group.referenced.has(name)) < asked(group),
  );
  const lacks = [
    ...(missing === '' ? [] : [`waiting for Pods: ${missing}`]),
    ...(missing === '' && unnamed ? ['the references are being written'] : []),
    ...(former.length === 0 ? [] : [`${OF_THE_GENERATION_BEFORE}: ${placed(former)}`]),
  ];
  if (lacks.length === 0) return undefined;
  return { reason: 'NextGenerationForming', message: `the next generation forms: ${lacks.join('; ')}` };
}
