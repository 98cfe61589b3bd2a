import type { Binding, BindingComponent } from './binding.ts';
import type { Estimate, Estimates } from './candidate.ts';
import { placedOf } from './reschedule-reason.ts';
import { bindingTemplates } from './gang-strategies.ts';
import { mayGo, countedOf, capacityIn, type CountedTemplates } from './capacity.ts';
import { groupsOf } from './filter.ts';
import type { Member } from './member.ts';
import { divisionOf } from './placement.ts';
import type { Assigner } from './assigner.ts';

export interface RoomQuestion extends CountedTemplates {
  readonly cluster: string;
  /** `room`: how many units fit. `whole`: whether all replicas of several templates fit, those in the cluster included. */
  readonly about: 'room' | 'whole';
}

/**
 * Questions to estimators for this binding: about each cluster that it may go to and that has capacity by its own status.
 */
export function roomQuestions(
  binding: Binding,
  members: readonly Member[],
  plugin: Assigner,
): readonly RoomQuestion[] {
  const counted = countedOf(binding, plugin);
  if (counted === undefined || !roomDecides(binding, plugin)) return [];
  const groups = groupsOf(binding.placement);
  const asked = members.filter((member) =>
    groups.some((group) => mayGo({ ...binding, affinityName: group }, member, group)),
  );
  return asked.flatMap((member) => questionsOf(binding, member, plugin, counted));
}

/**
 * Whether capacity affects the placement. A workload that goes whole to every cluster is placed regardless of capacity,
 * unless spread constraints select clusters.
 */
const roomDecides = ({ placement, components }: Binding, { room }: Assigner): boolean =>
  room !== undefined ||
  (divisionOf(placement) !== undefined && components.length <= 1) ||
  (placement?.spread ?? []).length > 0;

function questionsOf(
  binding: Binding,
  member: Member,
  plugin: Assigner,
  counted: CountedTemplates,
): readonly RoomQuestion[] {
  const cluster = member.name;
  const there = binding.clusters.find(({ name }) => name === cluster);
  const templates = bindingTemplates(binding);
  const hasRoom = capacityIn(binding, member, plugin) > 0;
  if (plugin.room === undefined || templates.length === 1)
    return hasRoom ? [{ cluster, about: 'room', ...counted }] : [];
  // Replicas in the cluster need no further capacity.
  const more = (wanted: readonly BindingComponent[]): readonly BindingComponent[] =>
    wanted.flatMap((one, index) => {
      const template = templates[index] ?? one;
      const has = there === undefined ? 0 : placedOf(there, template, templates.length);
      return one.replicas > has ? [{ ...one, replicas: one.replicas - has }] : [];
    });
  const [least, whole] = [more(counted.templates), more(templates)];
  if (!hasRoom && least.length > 0) return [];
  const sets = (about: RoomQuestion['about'], parts: readonly BindingComponent[]): readonly RoomQuestion[] =>
    parts.length === 0 ? [] : [{ cluster, about, unit: 'sets', templates: parts }];
  return [...sets('room', least), ...sets('whole', whole)];
}

/**
 * Combines the answers into estimates.
 * @param answers one for each question; undefined when the estimator has no answer
 * @param taken replicas that were sent to a cluster and are in no report yet, so that its estimator does not count them
 *   either
 */
export function estimatesOf(
  questions: readonly RoomQuestion[],
  answers: readonly (number | undefined)[],
  taken: (cluster: string) => { readonly room: number; readonly some: boolean },
): Estimates {
  const found = new Map<string, Estimate>();
  for (const [index, { cluster, about }] of questions.entries()) {
    const answer = answers[index];
    if (answer === undefined) continue;
    const before = found.get(cluster) ?? { room: Number.POSITIVE_INFINITY };
    const { room, some } = taken(cluster);
    found.set(
      cluster,
      about === 'room'
        ? { ...before, room: Math.max(0, answer - room) }
        : { ...before, whole: answer > 0 && !some },
    );
  }
  return found;
}
