import { describe, expect, test } from '@jest/globals';
import {
  admissionWebhooks,
  admissionEndpoints,
  type ReviewObserver,
} from '../../../src/admission/endpoints.ts';
import type { Policy } from '../../../src/admission/policy.ts';
import { ALL_READ } from '../../../src/api/webhook-endpoint.ts';
import { ENVIRONMENT_AND_VOLUMES, MANAGED_FIELDS } from '../../../src/json/unread-lists.ts';
import { GATE_POD_GANG_PENDING, PATH_MUTATE_POD, PATH_VALIDATE_POD } from '../../../src/api/names.ts';
import { PodRefused } from '../../../src/backends/backend.ts';
import { HOSTED, type Hosted, type HostedBackend } from '../../../src/backends/hosted.ts';
import { backend } from '../../support/backends.ts';
import { gangPod, pod } from '../../support/pods.ts';
import { policy } from '../../support/policy.ts';
import { review, type RequestParts } from '../../support/reviews.ts';

const made = backend('made', {
  preparePod: (given) => {
    if (given.name === 'refused') throw new PodRefused('metadata.name', 'not this one');
    if (given.name === 'broken') throw new TypeError('a defect');
  },
});

/** What is observed of one review, answered at once. */
function observed(path: string, parts: RequestParts): { told: unknown[]; thrown: unknown } {
  const told: unknown[] = [];
  const observer: ReviewObserver = {
    prepared: (name, ok, seconds) => told.push([name, ok, seconds >= 0]),
    decided: (request, { faults }, name, ms) => told.push([request.operation, faults.length, name, ms]),
  };
  const endpoint = admissionEndpoints(policy({ factories: [made] }), observer).find(
    (one) => one.path === path,
  );
  try {
    const answer = endpoint?.handle({
      body: review('Pod', parts),
      remainingMs: 1_000,
      entire: () => undefined,
    });
    if (answer === undefined || answer instanceof Promise) throw new Error('not answered at once');
    answer.sent(7);
    return { told, thrown: undefined };
  } catch (thrown) {
    return { told, thrown };
  }
}

const named = (name: string) => gangPod({ metadata: { name } });

describe('of the operation mutate', () => {
  test.each([
    [
      'a Pod that the backend prepared, as a success',
      PATH_MUTATE_POD,
      named('sound'),
      [['made', true, true]],
    ],
    [
      'a Pod that the backend refused, as a failure',
      PATH_MUTATE_POD,
      named('refused'),
      [['made', false, true]],
    ],
    [
      'a mistake that the backend never saw, not at all',
      PATH_MUTATE_POD,
      gangPod({ spec: { nodeName: 'n' } }),
      [],
    ],
    ['a Pod of no gang, not at all', PATH_MUTATE_POD, pod(), []],
    ['what is only validated, not at all', PATH_VALIDATE_POD, named('sound'), []],
  ])('counts %s', (_what, path, object, counted) => {
    const { told, thrown } = observed(path, { object });
    expect(thrown).toBeUndefined();
    expect(told.slice(0, -1)).toEqual(counted);
    expect(told.at(-1)).toEqual(['CREATE', expect.any(Number), expect.any(String), 7]);
  });

  test('counts a defect that the backend threw as a failure, and lets it through', () => {
    const { told, thrown } = observed(PATH_MUTATE_POD, { object: named('broken') });
    expect(told).toEqual([['made', false, true]]);
    expect(thrown).toEqual(new TypeError('a defect'));
  });
});

const deaf: ReviewObserver = { prepared: () => undefined, decided: () => undefined };

describe('the environment and volumes of a Pod are parsed for whoever declares to look, and for nobody else', () => {
  const unread = (under: Policy) => admissionEndpoints(under, deaf).map((one) => one.unread);
  const usual = [MANAGED_FIELDS];
  const most = [MANAGED_FIELDS, ENVIRONMENT_AND_VOLUMES];
  // Nobody looks for them in a workload, whatever its Pods will be prepared by.
  const others = admissionWebhooks.slice(2).map(({ kind }) => (kind === undefined ? most : usual));
  const none = [usual, usual, ...others];

  test('nobody', () => expect(unread(policy())).toEqual([most, most, ...others]));

  test.each([
    { schedulerName: true, lists: ['containers.env'] as const },
    { schedulerName: true, lists: ['spec.volumes'] as const },
    { schedulerName: true, fields: ['containers.args'] as const },
  ])('%j', (patchSurface) => {
    expect(unread(policy({ factories: [made, backend('adds', { patchSurface })] }))).toEqual(none);
    const preparer = { name: 'adds', patchSurface, prepare: () => undefined };
    expect(unread({ ...policy(), preparers: [preparer] })).toEqual(none);
  });
});

describe('a backend that runs elsewhere', () => {
  const cut = gangPod({ spec: { containers: [{ name: 'main' }] } });
  const whole = gangPod({ spec: { containers: [{ name: 'main', env: [{ name: 'A' }] }] } });

  /** How bodies are read for it, and which Pod it was given. */
  async function read(readsLargeLists: boolean) {
    const given: unknown[] = [];
    const answers = made.create({ config: {}, topology: { enabled: false, keys: [] } });
    const hosted: Partial<Hosted> = {
      schedulerName: 'far',
      readsLargeLists,
      ofPod: (object) => {
        given.push(object);
        return Promise.resolve({ ...answers, name: 'far', schedulerName: 'far' });
      },
    };
    const parts: Partial<HostedBackend> = { [HOSTED]: hosted as Hosted };
    const [mutate] = admissionEndpoints(policy({ factories: [backend('far', parts)] }), deaf);
    await mutate?.handle({
      body: review('Pod', { object: cut }),
      remainingMs: 1_000,
      entire: () => review('Pod', { object: whole }),
    });
    const unread = mutate?.unread;
    const head = { namespace: 'ml', operation: 'CREATE' };
    return { unread: typeof unread === 'function' ? unread(head) : unread, given };
  }

  test.each([
    ['declares nothing, has a Pod read as for all others', false, cut],
    ['declares to look, gets all of it, and the server is told to read it once', true, whole],
  ])('that %s', async (_what, looksAtAll, object) => {
    const unread = looksAtAll ? ALL_READ : [MANAGED_FIELDS, ENVIRONMENT_AND_VOLUMES];
    expect(await read(looksAtAll)).toEqual({ unread, given: [object] });
  });
});

describe('a forecast', () => {
  const prepared = gangPod({
    metadata: { name: 'w' },
    spec: { schedulerName: made.name, schedulingGates: [{ name: GATE_POD_GANG_PENDING }] },
  });
  const warned = async (path: string, parts: RequestParts): Promise<string[] | 'at once'> => {
    const under: Policy = {
      ...policy({ factories: [made] }),
      preview: (tried, withinMs) => Promise.resolve([`${tried.user} ${tried.namespace} ${withinMs}`]),
    };
    const endpoint = admissionEndpoints(under, deaf).find((one) => one.path === path);
    const body = review('Pod', { username: 'alice', ...parts });
    const answer = endpoint?.handle({ body, remainingMs: 1_000, entire: () => undefined });
    if (!(answer instanceof Promise)) return 'at once';
    return (JSON.parse((await answer).body) as { response: { warnings: string[] } }).response.warnings;
  };

  test('is a warning of a creation that is only tried out', async () => {
    expect(await warned(PATH_VALIDATE_POD, { object: prepared, dryRun: true, namespace: 'ns' })).toEqual([
      'alice ns 1000',
    ]);
  });

  test.each<[string, string, RequestParts]>([
    ['one that is meant', PATH_VALIDATE_POD, { object: prepared }],
    ['one that is refused', PATH_VALIDATE_POD, { object: named('no-gate'), dryRun: true }],
    ['a Pod of no gang', PATH_VALIDATE_POD, { object: pod(), dryRun: true }],
    ['a change', PATH_VALIDATE_POD, { object: prepared, oldObject: prepared, dryRun: true }],
    ['what is still to be prepared', PATH_MUTATE_POD, { object: named('sound'), dryRun: true }],
  ])('is not waited for by %s', async (_, path, parts) => {
    expect(await warned(path, parts)).toBe('at once');
  });
});
