import { ReceivedPod } from '../admission/pod-reader.ts';
import { JsonPodPatch } from '../admission/pod-patch.ts';
import { isObject, own, ownList, ownString, type Json, type JsonObject } from '../json/json.ts';
import { isDnsLabel } from '../k8s/name-syntax.ts';
import { quoted } from '../text/printable.ts';
import { objectName } from '../k8s/resource.ts';
import { broken, type ConformanceRule } from './check.ts';
import { hpcGang, policyOf, type PreparationSubject, type PreparedPod } from './preparation-subject.ts';
import {
  checkKeepsToSurface,
  checkKeys,
  checkPure,
  checkRefusals,
  checkSecondPass,
  checkSynchronous,
  withChanges,
} from './prepare-checks.ts';

/** Calls of the preparation itself, without Muster's own changes to the Pod. */
const callsOf = (subject: PreparationSubject): (() => unknown)[] =>
  subject.pods.map(
    ({ gang, member, pod }) =>
      () =>
        subject
          .preparerOf(gang)
          .prepare(new ReceivedPod(pod, member.namespace), member, new JsonPodPatch(pod)),
  );

/** The prepared Pod as the API server sends it again on reinvocation. */
const stored = (one: PreparedPod): JsonObject =>
  JSON.parse(JSON.stringify(withChanges(one.pod, one))) as JsonObject;

const COMES_OUT = ['prepare-throws', 'patch-surface'];

/** Fields of HPCPolicies that ask for other preparers. */
const OTHERS: readonly JsonObject[] = [{ hpc: { manager: 'flux' } }, { torch: {} }];

const wordsOf = (container: Json | undefined): Json[] =>
  ['command', 'args'].flatMap((key) => ownList(container, key) ?? []);
const containersOf = (pod: JsonObject): readonly Json[] => ownList(own(pod, 'spec'), 'containers') ?? [];

export const preparationPodRules: readonly ConformanceRule<PreparationSubject>[] = [
  {
    name: 'name',
    rule: 'the preparation has a name of lower-case letters, digits and "-", and its preparer the same',
    look: (subject) => {
      const { name } = subject.preparation;
      if (!isDnsLabel(name)) throw broken(`${JSON.stringify(name)} is no such name`);
      const preparer = subject.preparerOf(hpcGang('train'));
      if (preparer.name !== name)
        throw broken(
          `the preparation is ${JSON.stringify(name)}, its preparer ${JSON.stringify(preparer.name)}`,
        );
      return undefined;
    },
  },
  {
    name: 'asked-for',
    rule: 'nobody is prepared, judged and given objects by a policy that asks for another preparation',
    needs: ['name'],
    look: ({ preparation, policy }) => {
      const gang = hpcGang('train');
      for (const spec of OTHERS) {
        const { policy: other } = policyOf(spec);
        const parts = ['flux', 'torch'] as const;
        if (parts.some((part) => policy[part] !== undefined && other[part] !== undefined)) continue;
        if (preparation.preparer(gang, other) !== undefined)
          throw broken(`preparer() prepares Pods by ${JSON.stringify(spec)}`);
        const { faults, warnings } = preparation.validate(gang, other);
        if (faults.length + warnings.length > 0)
          throw broken(`validate() has something to say of ${JSON.stringify(spec)}`);
        const [object] = preparation.objects(gang, other, { certificate: () => '' });
        if (object !== undefined) throw broken(`objects() makes some by ${JSON.stringify(spec)}`);
      }
      return undefined;
    },
  },
  {
    name: 'surface',
    rule: 'patchSurface names keys and gates that are legal and not Muster’s, and leaves to the backend what is the scheduler’s',
    needs: ['name'],
    look: (subject) => {
      const { patchSurface } = subject.preparerOf(hpcGang('train'));
      checkKeys(patchSurface);
      for (const part of ['schedulerName', 'schedulingGroup', 'workloadRef'] as const) {
        if (patchSurface[part] === true) throw broken(`${part} is the backend’s to set`);
      }
      return undefined;
    },
  },
  {
    name: 'prepare-synchronous',
    rule: 'prepare() returns nothing, not even a promise',
    needs: ['name'],
    look: (subject) => checkSynchronous(callsOf(subject)),
  },
  {
    name: 'prepare-pure',
    rule: 'prepare() uses no clock, no chance, no timer and no I/O',
    needs: ['prepare-synchronous'],
    look: (subject) => checkPure(callsOf(subject)),
  },
  {
    name: 'prepare-throws',
    rule: 'prepare() throws PodRefused, with a field and a reason, and nothing else; not for every Pod',
    needs: ['prepare-pure'],
    look: (subject) => checkRefusals(callsOf(subject)),
  },
  {
    name: 'patch-surface',
    rule: 'prepare() changes what patchSurface declares and nothing else',
    needs: ['prepare-throws', 'surface'],
    look: (subject) => checkKeepsToSurface(() => subject.allPrepared()),
  },
  {
    name: 'prepare-same-bytes',
    rule: 'the same Pod gets the same patch, in the same order, the second time too',
    needs: COMES_OUT,
    look: (subject) => {
      for (const one of subject.pods) {
        const [first, second] = [subject.prepared(one), subject.prepared(one)].map(({ faults, changes }) =>
          JSON.stringify([faults, changes]),
        );
        if (first !== second) throw broken('the second patch of a Pod differs from the first');
      }
      return undefined;
    },
  },
  {
    name: 'prepare-idempotent',
    rule: 'a Pod that is prepared gets no patch: webhooks are called again when another one has changed the Pod',
    needs: ['prepare-same-bytes'],
    look: (subject) => {
      for (const one of subject.allPrepared()) {
        checkSecondPass(subject.prepared({ ...one, pod: stored(one) }));
      }
      return undefined;
    },
  },
  {
    name: 'keeps-command',
    rule: 'the words of command and args end what the prepared container runs, one by one as they were',
    needs: COMES_OUT,
    look: (subject) => {
      for (const one of subject.allPrepared()) {
        const after = containersOf(stored(one));
        for (const [index, container] of containersOf(one.pod).entries()) {
          const [was, is] = [wordsOf(container), wordsOf(after[index])];
          const kept = JSON.stringify(is.slice(is.length - was.length));
          if (kept !== JSON.stringify(was))
            throw broken(`${quoted(was)} became ${quoted(is)}: another program, or with other arguments`);
        }
      }
      return undefined;
    },
  },
  {
    name: 'mounts-made',
    rule: 'what the prepared Pod mounts of ConfigMaps and Secrets is among the objects of its gang',
    needs: COMES_OUT,
    look: (subject) => {
      for (const one of subject.allPrepared()) {
        const made = new Set(
          subject
            .objectsOf(one.gang)
            .map((object) => `${ownString(object, 'kind') ?? ''} ${objectName(object)}`),
        );
        const missing = mountedIn(stored(one)).find((what) => !made.has(what));
        if (missing !== undefined)
          throw broken(`the Pod would wait for ${missing} for ever, which objects() does not make`);
      }
      return undefined;
    },
  },
];

function mountedIn(pod: JsonObject): string[] {
  return (ownList(own(pod, 'spec'), 'volumes') ?? []).filter(isObject).flatMap((volume) => {
    const map = ownString(own(volume, 'configMap'), 'name');
    const secret = ownString(own(volume, 'secret'), 'secretName');
    return [
      ...(map === undefined ? [] : [`ConfigMap ${map}`]),
      ...(secret === undefined ? [] : [`Secret ${secret}`]),
    ];
  });
}
