import { decideRequest } from '../../src/admission/endpoints.ts';
import type { Policy } from '../../src/admission/policy.ts';
import { renderResponse } from '../../src/admission/response.ts';
import { parseReview, type Decision, orUntouched } from '../../src/admission/review.ts';
import { isObject, own, type Json, type JsonObject } from '../../src/json/json.ts';
import { rules } from '../../src/api/rules.ts';
import { BadRequest } from '../../src/errors.ts';
import { parsePodGang } from '../../src/gang/parse-pod-gang.ts';
import { readGangRecord, readPodRecord } from '../../src/gang/read-records.ts';
import { policy } from '../support/policy.ts';
import { endpointOf, review } from '../support/reviews.ts';
import { applied } from '../support/rfc6902.ts';
import { JUDGE, type Judge } from '../unit/gang/plan/model-leader.ts';
import { gangAfter, gangTree, LEVELS } from './objects.ts';
import { spoiltText } from './spoil.ts';
import { randomStored, runStored, type Stored } from './stored-gangs.ts';
import { must, mustBeClean, mustBeUnpolluted, type Target, type Trial } from './target.ts';

const POLICIES: readonly Policy[] = [
  policy({ levels: LEVELS }),
  policy({ fallback: 'kai-scheduler' }),
  policy({ fallback: 'volcano', levels: LEVELS }),
  policy({ enabled: ['default-scheduler'] }),
];

/** What is tried: a writing of a PodGang, under one of the policies, and a store with gangs and Pods for the loop. */
interface Input {
  readonly policy: number;
  readonly username: string;
  readonly subResource: string;
  readonly stored: Stored;
}

/** PodGangs: the reader and the rules as admission has them, then the loop over what is stored. */
export const podGangs: Target = {
  name: 'pod-gangs',
  share: 360,
  reaches: {
    of: 5_000,
    words: [
      'allowed',
      'patched',
      'formed',
      'released',
      'plan of nonsense',
      ...[
        'FieldRequired',
        'FieldType',
        'GroupsRequired',
        'GroupNameInvalid',
        'GroupNameDuplicate',
        'MinReplicasInvalid',
        'MinReplicasAllZero',
        'ReferenceForeign',
        'ReferenceInvalid',
        'ReferenceDuplicate',
        'TopologyKeyInvalid',
        'TopologyLevelUnknown',
        'TopologyOrder',
        'GroupConfigUnknownGroup',
        'SchedulerLabelImmutable',
        'InitializedProtected',
        'GroupsFixed',
        'BackendCannotExpress',
      ].map((rule) => `denied ${rule}`),
    ],
  },
  open: () => Promise.resolve(openPodGangs()),
};

export const openPodGangs = (judge: Judge = JUDGE): Trial => ({
  width: 1,
  make: (random) => {
    const input: Input = {
      policy: random.below(POLICIES.length),
      username: random.pick(['alice', 'system:serviceaccount:muster-system:muster']),
      subResource: random.chance(85) ? '' : 'status',
      stored: randomStored(random),
    };
    const gang = gangTree(random);
    const [text, old] = random.chance(50)
      ? [JSON.stringify(gangAfter(gang, random)), JSON.stringify(gang)]
      : [JSON.stringify(gang), ''];
    const parts = [text, old].map((one) => (one !== '' && random.chance(35) ? spoiltText(one, random) : one));
    return Buffer.from([JSON.stringify(input), ...parts].join('\n'));
  },
  attempt: (bytes) => {
    const [first = '', text = '', old = ''] = bytes.toString().split('\n');
    const input = JSON.parse(first) as Input;
    const words = [
      ...admitted(input, text, old),
      ...plannedAnyway(text, judge),
      ...runStored(input.stored, judge),
    ];
    mustBeUnpolluted();
    return Promise.resolve(words);
  },
  close: () => Promise.resolve(),
});

/** The object as it may stand in a review; whatever is no object was refused before. */
function objectOf(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function decided(
  verb: 'mutate' | 'validate',
  input: Input,
  object: Json,
  oldObject: Json | undefined,
): { decision: Decision; text: string } {
  const { username, subResource } = input;
  const body = review('PodGang', { object, oldObject, username, ...(subResource && { subResource }) });
  const request = parseReview(body);
  const under = POLICIES[input.policy] ?? policy();
  const decision = orUntouched(decideRequest(endpointOf(verb, 'PodGang'), request, under));
  return { decision, text: renderResponse(request, decision) };
}

/** One writing, by the mutating and then the validating endpoint, as the API server would. */
function admitted(input: Input, text: string, old: string): string[] {
  const object = objectOf(text);
  const before = old === '' ? undefined : objectOf(old);
  if (object === undefined || (old !== '' && before === undefined)) return ['no object'];
  try {
    const first = decided('mutate', input, object, before);
    must(
      first.text === decided('mutate', input, JSON.parse(text) as Json, before).text,
      'the same writing, another answer',
    );
    must(first.decision.faults.length === 0, 'a mutating endpoint refuses');
    const operations = first.decision.changes.map(({ operation }) => operation);
    const next = operations.length === 0 ? object : applied(text, operations);
    const second = decided('mutate', input, next, before);
    must(
      second.decision.changes.length === 0,
      () => `a second pass: ${JSON.stringify(second.decision.changes)}`,
    );
    const verdict = decided('validate', input, next, before);
    must(verdict.text === decided('validate', input, next, before).text, 'the same writing, another verdict');
    const words = verdict.decision.faults.map(({ rule, field, message }) => {
      must(
        Object.hasOwn(rules, rule) && field !== '',
        `a fault by no rule, or of no field: ${rule} ${field}`,
      );
      must(
        message.endsWith(`[${rule}]`) && Array.from(message).length <= 256,
        `the message of ${rule}: ${message}`,
      );
      mustBeClean(message, 'a message');
      return `denied ${rule}`;
    });
    return [...(operations.length > 0 ? ['patched'] : []), ...(words.length > 0 ? words : ['allowed'])];
  } catch (thrown) {
    if (thrown instanceof BadRequest) return ['400'];
    throw thrown;
  }
}

/** Whatever is stored, readers and plan say something about it: twice the same. */
function plannedAnyway(text: string, judge: Judge): string[] {
  const object = objectOf(text);
  if (object === undefined) return [];
  const pod = readPodRecord(object);
  const gang = readGangRecord(object);
  must(Array.isArray(parsePodGang(object, 'ml').faults), 'no list of faults');
  const state = {
    synced: true,
    now: 1_800_000_000_000,
    namespace: 'ml',
    name: 'train',
    gang: { ...gang, namespace: 'ml', name: 'train' },
    pods: [{ ...pod, namespace: 'ml', gang: 'train', group: gang.spec.groups[0]?.name ?? 'x' }],
    baseGangs: new Map(),
    backend: {
      name: 'native',
      schedulerName: 'default-scheduler',
      ready: true,
      objectsExist: true,
      releaseOrder: 'all-at-once' as const,
    },
    notOurs: undefined,
    countsWhatIsLeft: gang.annotations.get('muster.dev/workload')?.startsWith('job/') === true,
    lastStatusWrite: undefined,
  };
  const first = JSON.stringify(judge.plan(state));
  must(first === JSON.stringify(judge.plan(state)), 'the same state, another plan');
  for (const { message = '' } of judge.plan(state).status?.conditions ?? [])
    if (own(own(object, 'status'), 'conditions') === undefined) mustBeClean(message, 'a condition');
  return ['plan of nonsense'];
}
