import { isDnsSubdomain, isLabelKey, isLabelValue } from '../k8s/name-syntax.ts';
import { isObject, own, ownList, ownObject, ownString, type JsonObject } from '../json/json.ts';
import { JsonPodPatch } from '../admission/pod-patch.ts';
import { ReceivedPod } from '../admission/pod-reader.ts';
import type { Decision } from '../admission/review.ts';
import type { Policy } from '../admission/policy.ts';
import { membershipOf } from '../gang/membership.ts';
import type { Backend } from '../backends/backend.ts';
import { podPartFor } from '../preparers/pod-part.ts';
import { builtInBackends } from '../backends/registry.ts';
import { broken, type ConformanceRule } from './check.ts';
import { STANDS } from './identity-rules.ts';
import {
  checkKeepsToSurface,
  checkKeys,
  checkPure,
  checkRefusals,
  checkSecondPass,
  checkSynchronous,
  withChanges,
} from './prepare-checks.ts';
import { samplePod, samplePods } from './sample-pods.ts';
import { admitted, type Subject } from './subject.ts';

const PODS = samplePods(200);

/** Calls the backend itself, without Muster's own changes to the Pod. */
function prepare(backend: Backend, pod: JsonObject): unknown {
  const namespace = ownString(own(pod, 'metadata'), 'namespace') ?? '';
  const reader = new ReceivedPod(pod, namespace);
  const gang = membershipOf(namespace, (key) => reader.label(key));
  return backend.preparePod(podPartFor(backend, reader), gang, new JsonPodPatch(pod));
}

async function callsOf(subject: Subject): Promise<(() => unknown)[]> {
  const { backend } = await subject.enabled();
  return PODS.map((pod) => () => prepare(backend, pod));
}

/** Sample Pods with their decisions, without the Pods that the backend refuses. */
async function preparedPods(subject: Subject): Promise<{ pod: JsonObject; decision: Decision }[]> {
  const { policy } = await subject.enabled();
  return PODS.map((pod) => ({ pod, decision: admitted(pod, policy) })).filter(
    ({ decision }) => decision.faults.length === 0,
  );
}

const bytesOf = ({ faults, changes }: Decision): string => JSON.stringify([faults, changes]);

const COMES_OUT = ['prepare-throws', 'patch-surface'];

export const prepareRules: readonly ConformanceRule<Subject>[] = [
  {
    name: 'surface',
    rule: 'patchSurface names label keys, annotation keys and gates that are legal and not Muster’s',
    needs: STANDS,
    look: async (subject) =>
      checkKeys((await subject.enabled()).backend.patchSurface, ', and no backend’s to touch'),
  },
  {
    name: 'prepare-synchronous',
    rule: 'preparePod() returns nothing, not even a promise',
    needs: STANDS,
    look: async (subject) => checkSynchronous(await callsOf(subject)),
  },
  {
    name: 'prepare-pure',
    rule: 'preparePod() uses no clock, no chance, no timer and no I/O',
    needs: ['prepare-synchronous'],
    look: async (subject) => checkPure(await callsOf(subject)),
  },
  {
    name: 'prepare-throws',
    rule: 'preparePod() throws PodRefused, with a field and a reason, and nothing else; not for every Pod',
    needs: ['prepare-pure'],
    look: async (subject) =>
      checkRefusals(await callsOf(subject), ': give it the --config under which it takes one'),
  },
  {
    name: 'patch-surface',
    rule: 'preparePod() changes what patchSurface declares, to strings, and nothing else',
    needs: ['prepare-throws', 'surface'],
    look: (subject) => checkKeepsToSurface(() => preparedPods(subject)),
  },
  {
    name: 'prepare-scheduler',
    rule: 'preparePod() sets schedulerName, whatever the Pod had',
    needs: COMES_OUT,
    look: async (subject) => {
      const { schedulerName } = (await subject.enabled()).backend;
      for (const { pod, decision } of await preparedPods(subject)) {
        const given = ownString(own(pod, 'spec'), 'schedulerName');
        const now = ownString(own(withChanges(pod, decision), 'spec'), 'schedulerName');
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
        checkSecondPass(admitted(withChanges(pod, decision), policy));
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
        const { metadata, spec } = withChanges(pod, decision);
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

/** Highest ratio that passes. Built-in backends are below 3, and noise does not bring an honest backend near this. */
const MOST = 50;
const ROUNDS = 9;
const PODS_A_ROUND = 100;

/**
 * Compares the time of a Pod's admission with that of the built-in backend `default-scheduler`.
 * @returns the ratio, for people
 * @throws ConformanceFailure above {@link MOST}
 */
async function speedNote(subject: Subject, pod: JsonObject): Promise<string> {
  const { policy } = await subject.enabled();
  const { policy: usual } = await subject.enabled(builtInBackends[0]);
  const round = (under: Policy): number => {
    const since = performance.now();
    for (let count = 0; count < PODS_A_ROUND; count += 1) admitted(pod, under);
    return performance.now() - since;
  };
  // Alternating rounds, the fastest of each: other load on the machine then affects both alike.
  const times = Array.from({ length: ROUNDS }, () => [round(usual), round(policy)] as const);
  const best = (side: 0 | 1): number => Math.min(...times.map((pair) => pair[side]));
  const ratio = best(1) / best(0);
  if (ratio > MOST)
    throw broken(`it takes ${ratio.toFixed(0)} times as long: every Pod of the cluster waits for it`);
  return `${ratio.toFixed(1)} times default-scheduler`;
}
