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
 * What a gang says of priority and preemption comes to its scheduler, or its author is told that it does not. The class
 * itself every Pod gets from Muster, and of a policy that is not that of the class Muster warns: of these two the objects
 * only must not say something else.
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
      // A scheduler does one or the other by itself, so the two cannot be alike in every way.
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

/** The gang with a class of its own and these annotations. */
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

/** @returns how the class comes to the scheduler, where objects have none */
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

/** Every class and policy in an object, however deep. */
function namedIn(value: Json): [field: 'priorityClassName' | 'preemptionPolicy', value: Json][] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(namedIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([field, inner]) =>
    field === 'priorityClassName' || field === 'preemptionPolicy' ? [[field, inner]] : namedIn(inner),
  );
}
