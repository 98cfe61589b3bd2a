import { isObject, type Json } from '../json/json.ts';
import {
  ANNOTATION_DISRUPTION_MODE,
  ANNOTATION_PREEMPTION_POLICY,
  ANNOTATION_PREEMPTION_PRIORITY_CLASS,
  DISRUPTION_MODES,
  PREEMPTION_POLICIES,
} from '../api/preemption-terms.ts';
import type { Backend, PodGangVerdict } from '../backends/backend.ts';
import { broken, type ConformanceRule } from './check.ts';
import { takenGang } from './gang-rules.ts';
import { MemoryCluster, sync } from './memory-cluster.ts';
import type { StoredGang } from './sample-gangs.ts';
import type { Subject } from './subject.ts';

const CLASS = 'spec.priorityClassName';
const [ONE_BY_ONE, TOGETHER] = DISRUPTION_MODES;

/**
 * A gang's priority and preemption terms have to reach its scheduler, or its author has to be warned. Every Pod gets the
 * PriorityClass from Muster, and Muster warns of a preemption policy that differs from the class's: the scheduler objects
 * must only not contradict these two.
 */
export const conformancePriorityRules: readonly ConformanceRule<Subject>[] = [
  {
    name: 'priorities',
    rule: 'of disruption mode and preemption priority nothing is dropped without a warning, and objects that name a PriorityClass or a preemption policy name the gang’s',
    needs: ['sync-works'],
    look: async (subject) => {
      const { backend } = await subject.enabled();
      const plain = saying(takenGang(subject, backend) as StoredGang, {});
      const costly = saying(plain, { [ANNOTATION_PREEMPTION_PRIORITY_CLASS]: 'precious' });
      const single = saying(plain, { [ANNOTATION_DISRUPTION_MODE]: ONE_BY_ONE });
      const whole = saying(plain, { [ANNOTATION_DISRUPTION_MODE]: TOGETHER });
      // A scheduler has one of both modes as its default, so at most one of them needs no object and no warning.
      if (!(await differ(backend, single, whole)))
        throw broken(
          `a gang with ${ANNOTATION_DISRUPTION_MODE} ${ONE_BY_ONE} and one with ${TOGETHER} get the same objects and the same warnings: ${WAY_OUT}`,
        );
      if (!(await differ(backend, plain, costly)))
        throw broken(
          `${ANNOTATION_PREEMPTION_PRIORITY_CLASS} changes neither objects nor warnings: ${WAY_OUT}`,
        );
      if (
        (backend.warnOfUpdate?.(plain, costly) ?? []).length === 0 &&
        !(await objectsDiffer(backend, plain, costly))
      )
        throw broken(
          `${ANNOTATION_PREEMPTION_PRIORITY_CLASS} on a stored gang changes no object, and warnOfUpdate() says nothing of it`,
        );
      return namedRight(backend, plain);
    },
  },
];

const WAY_OUT = 'pass it on, or warn in validatePodGang() (unheardTerms() has the words)';

/** The gang with a PriorityClass and these annotations. */
const saying = (
  gang: StoredGang,
  annotations: Readonly<Record<string, string>>,
  priorityClassName = 'urgent',
): StoredGang => ({
  ...gang,
  spec: { ...gang.spec, priorityClassName },
  annotations: new Map([...gang.annotations, ...Object.entries(annotations)]),
});

const differ = async (backend: Backend, one: StoredGang, other: StoredGang): Promise<boolean> =>
  said(backend.validatePodGang(one)) !== said(backend.validatePodGang(other)) ||
  (await objectsDiffer(backend, one, other));

const said = ({ faults, warnings }: PodGangVerdict): string => JSON.stringify([faults, warnings]);

const objectsDiffer = async (backend: Backend, one: StoredGang, other: StoredGang): Promise<boolean> =>
  (await pictureOf(backend, one)) !== (await pictureOf(backend, other));

async function pictureOf(backend: Backend, gang: StoredGang): Promise<string> {
  const cluster = new MemoryCluster();
  await sync(backend, cluster, gang);
  return cluster.picture();
}

/** Checks the class and the policy in the gang's objects. @returns a note where the objects name no class */
async function namedRight(backend: Backend, gang: StoredGang): Promise<string | undefined> {
  const cluster = new MemoryCluster();
  const seen = new Set<string>();
  for (const policy of PREEMPTION_POLICIES) {
    for (const name of ['urgent', 'calm']) {
      const now = saying(gang, { [ANNOTATION_PREEMPTION_POLICY]: policy }, name);
      await sync(backend, cluster, now);
      for (const object of cluster.ownedBy(gang.uid)) {
        for (const [field, value] of namedIn(object)) {
          seen.add(field);
          const meant = field === 'priorityClassName' ? name : policy;
          if (value !== meant)
            throw broken(
              `an object of a gang with ${field} ${meant} says ${field}: ${JSON.stringify(value)}`,
            );
        }
      }
    }
  }
  return seen.has('priorityClassName')
    ? undefined
    : `its objects have no ${CLASS}: the class comes with the Pods`;
}

/** Every PriorityClass and preemption policy in an object, at any depth. */
function namedIn(value: Json): [field: 'priorityClassName' | 'preemptionPolicy', value: Json][] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(namedIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([field, inner]) =>
    field === 'priorityClassName' || field === 'preemptionPolicy' ? [[field, inner]] : namedIn(inner),
  );
}
