import { constant, type Change } from '../json/patch.ts';
import type { KnownSpec } from '../json/known-specs.ts';
import type { Backend } from '../backends/backend.ts';
import type { Membership } from '../gang/membership.ts';
import { alikeByOf } from '../preparers/alike.ts';
import type { PodReader, Preparer } from '../preparers/preparer.ts';
import type { JsonPodPatch } from './pod-patch.ts';
import type { AdmissionRequest } from './review.ts';

/** The changes to lists and fields that the preparers made of a Pod of this spec. */
interface Made {
  /** Of one gang and one state of its HPCPolicy, each of which is a new object when it changes. */
  readonly preparers: readonly Preparer[];
  readonly group: string;
  /** What else they depend on, see {@link alikeByOf}. */
  readonly by: string;
  readonly changes: readonly Change[];
}

/** Kept for one spec, as of a template that several gangs share. */
const MOST_MADE = 4;
const made = new WeakMap<KnownSpec, Made[]>();

/** The preparers that a Pod still needs, and what completes the changes of its patch. */
export interface Preparation {
  readonly preparers: readonly Preparer[];
  readonly complete: (patch: JsonPodPatch) => Change[];
}

/**
 * Prepares a Pod by what a Pod with the same spec got. Undefined where a Pod has to be prepared by itself: its preparers are
 * not Muster's own, or somebody else changes lists too.
 */
export function knownPreparation(
  { specs }: AdmissionRequest,
  preparers: readonly Preparer[],
  { patchSurface: { lists = [], fields = [] } }: Pick<Backend, 'patchSurface'>,
  { pod, gang }: { readonly pod: PodReader; readonly gang: Membership },
): Preparation | undefined {
  const changing = preparers.filter(({ patchSurface }) => patchSurface.lists ?? patchSurface.fields);
  const [one, ...more] = changing;
  if (specs === undefined || one === undefined || more.length + lists.length + fields.length > 0)
    return undefined;
  const by = alikeByOf(one)?.(pod, gang);
  if (by === undefined) return undefined;
  const { of, known, bytes } = specs;
  const { group } = gang;
  const found = (known && made.get(known))?.find(
    (before) => before.preparers === preparers && before.group === group && before.by === by,
  );
  if (known !== undefined) of.used(known, found !== undefined);
  if (found !== undefined) {
    return {
      preparers: preparers.filter((other) => other !== one),
      complete: (patch) => [...patch.changes(), ...found.changes],
    };
  }
  return {
    preparers,
    complete: (patch) => {
      const spec = known ?? of.learn(bytes);
      if (spec !== undefined) keep(spec, { preparers, group, by, changes: constant(patch.listChanges()) });
      return patch.changes();
    },
  };
}

function keep(spec: KnownSpec, one: Made): void {
  const all = made.get(spec) ?? [];
  if (all.length === MOST_MADE) all.shift();
  all.push(one);
  made.set(spec, all);
}
