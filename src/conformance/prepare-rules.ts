import jsonPatch from 'fast-json-patch';
import { isDnsSubdomain, isLabelKey, isLabelValue } from '../api/name-syntax.ts';
import { isObject, own, ownList, ownObject, ownString, type JsonObject } from '../api/json.ts';
import { GATE_POD_GANG_PENDING } from '../api/names.ts';
import { JsonPodPatch } from '../admission/pod-patch.ts';
import { ReceivedPod } from '../admission/pod-reader.ts';
import type { Decision } from '../admission/review.ts';
import type { Policy } from '../admission/policy.ts';
import { quoted } from '../api/printable.ts';
import { messageOf, MusterError } from '../errors.ts';
import { MEMBERSHIP_LABELS, membershipOf } from '../gang/membership.ts';
import { isPodRefused, type Backend } from '../backends/backend.ts';
import { builtInBackends } from '../backends/registry.ts';
import { broken, type Rule } from './check.ts';
import { STANDS } from './identity-rules.ts';
import { reachedOutside } from './outside-world.ts';
import { samplePod, samplePods } from './sample-pods.ts';
import { admitted, type Subject } from './subject.ts';

const PODS = samplePods(200);

/** The bare call, with nothing of Muster's around it. */
function prepare(backend: Backend, pod: JsonObject): unknown {
  const namespace = ownString(own(pod, 'metadata'), 'namespace') ?? '';
  const reader = new ReceivedPod(pod, namespace);
  const gang = membershipOf(namespace, (key) => reader.label(key));
  return backend.preparePod(reader, gang, new JsonPodPatch(pod));
}

/** Pods, each with what was decided; those that the backend refuses are left out. */
async function preparedPods(subject: Subject): Promise<{ pod: JsonObject; decision: Decision }[]> {
  const { policy } = await subject.enabled();
  return PODS.map((pod) => ({ pod, decision: admitted(pod, policy) })).filter(
    ({ decision }) => decision.faults.length === 0,
  );
}

export const patched = (pod: JsonObject, { changes }: Pick<Decision, 'changes'>): JsonObject =>
  jsonPatch.applyPatch(
    structuredClone(pod),
    structuredClone(changes.map(({ operation }) => operation)) as never,
  ).newDocument;

/** What becomes of a Pod that is prepared already. @throws where it is not left as it is */
export function checkSecondPass({ faults: [fault], changes }: Pick<Decision, 'faults' | 'changes'>): void {
  if (fault !== undefined) throw broken(`it refused the Pod that it prepared: ${fault.message}`);
  const paths = changes.map(({ operation }) => operation.path);
  if (paths.length > 0) throw broken(`it patched the prepared Pod again, at ${paths.join(', ')}`);
}

const bytesOf = ({ faults, changes }: Decision): string => JSON.stringify([faults, changes]);

const COMES_OUT = ['prepare-throws', 'patch-surface'];

export const prepareRules: readonly Rule<Subject>[] = [
  {
    name: 'surface',
    rule: 'patchSurface names label keys, annotation keys and gates that are legal and not Muster’s',
    needs: STANDS,
    look: async (subject) => {
      const { labels = [], annotations = [], gates = [] } = (await subject.enabled()).backend.patchSurface;
      const wrong = [...labels, ...annotations, ...gates].find((key) => !isLabelKey(key));
      if (wrong !== undefined) throw broken(`${JSON.stringify(wrong)} is no legal key`);
      const ours = new Set<string>([...MEMBERSHIP_LABELS, GATE_POD_GANG_PENDING]);
      const taken = [...labels, ...gates].find((key) => ours.has(key));
      if (taken !== undefined) throw broken(`${taken} is Muster’s, and no backend’s to touch`);
      return undefined;
    },
  },
  {
    name: 'prepare-synchronous',
    rule: 'preparePod() returns nothing, not even a promise',
    needs: STANDS,
    look: async (subject) => {
      const { backend } = await subject.enabled();
      const returned = PODS.map((pod): unknown => {
        try {
          return prepare(backend, pod);
        } catch {
          return undefined;
        }
      });
      for (const value of returned) void Promise.resolve(value).catch(() => undefined);
      const first = returned.find((value) => value !== undefined);
      if (first instanceof Promise) throw broken('it returned a promise: what it does later reaches no Pod');
      if (first !== undefined) throw broken(`it returned ${quoted(first)}`);
      return undefined;
    },
  },
  {
    name: 'prepare-pure',
    rule: 'preparePod() uses no clock, no chance, no timer and no I/O',
    needs: ['prepare-synchronous'],
    look: async (subject) => {
      const { backend } = await subject.enabled();
      const tried = PODS.flatMap((pod) => reachedOutside(() => prepare(backend, pod)));
      if (tried.length > 0) throw broken(`it called ${[...new Set(tried)].join(', ')}`);
      return undefined;
    },
  },
  {
    name: 'prepare-throws',
    rule: 'preparePod() throws PodRefused, with a field and a reason, and nothing else; not for every Pod',
    needs: ['prepare-pure'],
    look: async (subject) => {
      const { backend } = await subject.enabled();
      const refusals = PODS.flatMap((pod) => {
        try {
          prepare(backend, pod);
          return [];
        } catch (thrown) {
          if (!isPodRefused(thrown)) throw broken(`it threw "${messageOf(thrown)}": Pods fail with 500`);
          if (thrown.field === '' || thrown.message === '')
            throw broken('it refused a Pod without a field or a reason');
          return [`${thrown.field}: ${thrown.message}`];
        }
      });
      if (refusals.length < PODS.length) return undefined;
      throw broken(
        `it refused every Pod (${refusals[0] ?? ''}): give it the --config under which it takes one`,
      );
    },
  },
  {
    name: 'patch-surface',
    rule: 'preparePod() changes what patchSurface declares, to strings, and nothing else',
    needs: ['prepare-throws', 'surface'],
    look: async (subject) => {
      try {
        await preparedPods(subject);
      } catch (thrown) {
        if (thrown instanceof MusterError) throw broken(thrown.message);
        throw thrown;
      }
      return undefined;
    },
  },
  {
    name: 'prepare-scheduler',
    rule: 'preparePod() sets schedulerName, whatever the Pod had',
    needs: COMES_OUT,
    look: async (subject) => {
      const { schedulerName } = (await subject.enabled()).backend;
      for (const { pod, decision } of await preparedPods(subject)) {
        const given = ownString(own(pod, 'spec'), 'schedulerName');
        const now = ownString(own(patched(pod, decision), 'spec'), 'schedulerName');
        if (now !== schedulerName)
          throw broken(
            `a Pod with ${JSON.stringify(given)} came out with ${JSON.stringify(now)}, not ${JSON.stringify(schedulerName)}: the validating webhook will refuse it`,
          );
      }
      return undefined;
    },
  },
  {
    name: 'prepare-same-bytes',
    rule: 'the same Pod gets the same patch, the second time and from another replica',
    needs: COMES_OUT,
    look: async (subject) => {
      const [one, other] = [await subject.enabled(), await subject.enabled()];
      for (const pod of PODS) {
        const [first, second, third] = [one, one, other].map(({ policy }) => bytesOf(admitted(pod, policy)));
        if (first !== second) throw broken('the second patch of a Pod differs from the first');
        if (first !== third)
          throw broken('another instance made from the same settings patches a Pod differently');
      }
      return undefined;
    },
  },
  {
    name: 'prepare-idempotent',
    rule: 'a Pod that is prepared gets no patch: webhooks are called again when another one has changed the Pod',
    needs: ['prepare-same-bytes', 'prepare-scheduler'],
    look: async (subject) => {
      const { policy } = await subject.enabled();
      for (const { pod, decision } of await preparedPods(subject)) {
        checkSecondPass(admitted(patched(pod, decision), policy));
      }
      return undefined;
    },
  },
  {
    name: 'prepare-legal',
    rule: 'what preparePod() writes is legal to the API server: label values, names of gates and of groups',
    needs: COMES_OUT,
    look: async (subject) => {
      for (const { pod, decision } of await preparedPods(subject)) {
        const { metadata, spec } = patched(pod, decision);
        for (const [key, value] of Object.entries(ownObject(metadata, 'labels') ?? {})) {
          if (typeof value !== 'string' || (value !== '' && !isLabelValue(value)))
            throw broken(`label ${key} became ${JSON.stringify(value)}, which is no label value`);
        }
        for (const gate of ownList(spec, 'schedulingGates') ?? []) {
          const name = ownString(gate, 'name') ?? '';
          if (!isLabelKey(name)) throw broken(`gate ${JSON.stringify(name)} has no legal name`);
        }
        for (const [key, field] of [
          ['schedulingGroup', 'podGroupName'],
          ['workloadRef', 'name'],
        ] as const) {
          const link = own(spec, key);
          if (!isObject(link)) continue;
          const name = ownString(link, field) ?? '';
          if (!isDnsSubdomain(name))
            throw broken(`spec.${key}.${field} became ${JSON.stringify(name)}, no object’s name`);
        }
      }
      return undefined;
    },
  },
  {
    name: 'prepare-speed',
    rule: 'admission of a Pod takes at most 50 times what it takes with default-scheduler',
    needs: COMES_OUT,
    look: (subject) => speedNote(subject, samplePod('train', 'worker')),
  },
];

/** Far above what noise can make of an honest backend: those that come with Muster are below 3. */
const MOST = 50;
const ROUNDS = 9;
const PODS_A_ROUND = 100;

/** @returns the ratio, for people @throws ConformanceFailure above {@link MOST} */
async function speedNote(subject: Subject, pod: JsonObject): Promise<string> {
  const { policy } = await subject.enabled();
  const { policy: usual } = await subject.enabled(builtInBackends[0]);
  const round = (under: Policy): number => {
    const since = performance.now();
    for (let count = 0; count < PODS_A_ROUND; count += 1) admitted(pod, under);
    return performance.now() - since;
  };
  // In turns, and the best of each, so that what else the machine does hits neither more.
  const times = Array.from({ length: ROUNDS }, () => [round(usual), round(policy)] as const);
  const best = (side: 0 | 1): number => Math.min(...times.map((pair) => pair[side]));
  const ratio = best(1) / best(0);
  if (ratio > MOST)
    throw broken(`it takes ${ratio.toFixed(0)} times as long: every Pod of the cluster waits for it`);
  return `${ratio.toFixed(1)} times default-scheduler`;
}
