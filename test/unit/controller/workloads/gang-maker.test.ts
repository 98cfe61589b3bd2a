/** How a deed about the PodGang of a workload is carried out, and what an answer of the API server means. */
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { JsonObject } from '../../../../src/json/json.ts';
import { carryOut } from '../../../../src/controller/workloads/gang-maker.ts';
import type { GangAction } from '../../../../src/controller/workloads/plan-made-gang.ts';
import { readMemberPod } from '../../../../src/controller/watch/gang-view.ts';
import { readGangRecord } from '../../../../src/gang/read-records.ts';
import { errorFromAnswer } from '../../../../src/kube/client/errors.ts';
import { workloadPod } from '../../../support/workload-pods.ts';

const pod = readMemberPod(workloadPod('job', 'train', 'main', { controller: { uid: 'j' } }));
const gang = readGangRecord({
  metadata: { namespace: 'ml', name: 'job-train', uid: 'g', resourceVersion: '5' },
  spec: { podgroups: [{ name: 'main', minReplicas: 2, podReferences: [] }] },
});
const DEEDS = {
  create: {
    do: 'create',
    like: pod,
    gang: {
      ...{ namespace: 'ml', name: 'job-train', priorityClassName: undefined },
      origin: { kind: 'job', name: 'train', uid: 'j', part: undefined },
      owner: undefined,
      groups: [{ name: 'main', replicas: 2, minReplicas: 2 }],
    },
  },
  delete: { do: 'delete', gang, why: 'job/train has no Pods to run' },
  change: {
    do: 'change',
    gang,
    change: {
      minimums: new Map([[0, 3]]),
      annotations: { 'muster.dev/expected-pods': 'main=3', 'a~b': null },
    },
  },
  say: { do: 'say', pod, reason: 'WorkloadInvalid', message: 'it cannot be made' },
} as unknown as Readonly<Record<'create' | 'delete' | 'change' | 'say', GangAction>>;

function hands(status?: number, reason?: string) {
  const done: [verb: string, ...what: unknown[]][] = [];
  const act =
    (verb: string) =>
    (...what: unknown[]): Promise<undefined> => {
      done.push([verb, ...what]);
      if (status === undefined) return Promise.resolve(undefined);
      const body = JSON.stringify({ kind: 'Status', reason, message: 'no' });
      return Promise.reject(errorFromAnswer('POST', status, body, undefined));
    };
  return {
    done,
    hands: {
      client: { create: act('create'), delete: act('delete'), jsonPatch: act('patch') },
      registry: { backends: [{ name: 'default-scheduler', schedulerName: 'default-scheduler' }] },
      recorder: { event: (...what: unknown[]) => void done.push(['event', ...what]) },
      log: pino({ level: 'silent' }),
    } as unknown as Parameters<typeof carryOut>[1],
  };
}
const run = (deed: GangAction, given = hands()): Promise<number | undefined> =>
  carryOut(deed, given.hands, new AbortController().signal);

test('a PodGang is made with the backend of its Pods', async () => {
  const given = hands();
  expect(await run(DEEDS.create, given)).toBeUndefined();
  const [[verb, , object] = ['']] = given.done;
  expect(verb).toBe('create');
  expect(object as JsonObject).toMatchObject({
    metadata: { namespace: 'ml', name: 'job-train', annotations: { 'muster.dev/workload': 'job/train' } },
    spec: { podgroups: [{ name: 'main', minReplicas: 2 }] },
  });
});

test('one goes, and changes, only as it was read', async () => {
  const given = hands();
  await run(DEEDS.delete, given);
  await run(DEEDS.change, given);
  expect(given.done).toMatchObject([
    ['delete', { name: 'job-train' }, { preconditions: { uid: 'g', resourceVersion: '5' } }],
    [
      'patch',
      { name: 'job-train' },
      [
        { op: 'test', path: '/metadata/uid', value: 'g' },
        { op: 'replace', path: '/metadata/resourceVersion', value: '5' },
        { op: 'replace', path: '/spec/podgroups/0/minReplicas', value: 3 },
        { op: 'add', path: '/metadata/annotations/muster.dev~1expected-pods', value: 'main=3' },
        { op: 'remove', path: '/metadata/annotations/a~0b' },
      ],
      {},
    ],
  ]);
});

test('what cannot be made is an Event of the Pod; where there is nothing to do it says when to look again', async () => {
  const given = hands();
  await run(DEEDS.say, given);
  expect(given.done).toMatchObject([
    ['event', { name: pod.name }, { type: 'Warning', reason: 'WorkloadInvalid', note: 'it cannot be made' }],
  ]);
  expect(await run({ do: 'nothing' })).toBeUndefined();
  expect(await run({ do: 'nothing', againMs: 70 })).toBe(70);
});

test.each([
  ['create', 409, 'AlreadyExists'],
  ['delete', 409, 'Conflict'],
  ['delete', 404, 'NotFound'],
  ['change', 409, 'Conflict'],
  ['change', 422, 'Invalid'],
] as const)('%s: %i %s only means that somebody was first', async (deed, status, reason) => {
  expect(await run(DEEDS[deed], hands(status, reason))).toBe(1_000);
});

test.each([
  ['create', 422, 'Invalid'],
  ['create', 403, 'Forbidden'],
  ['delete', 500, 'InternalError'],
] as const)('%s: %i %s is an error', async (deed, status, reason) => {
  await expect(run(DEEDS[deed], hands(status, reason))).rejects.toThrow();
});
