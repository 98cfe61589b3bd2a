/** The carrying out of plans: what is written, what is not, and what is said of it. */
import { beforeEach, expect, test } from '@jest/globals';
import { BackendRegistry } from '../../../../src/backends/registry.ts';
import { Outdated, type GangWriter } from '../../../../src/controller/gangs/actions.ts';
import { WriteMemory, urgencyOf, type Urgency } from '../../../../src/controller/gangs/write-memory.ts';
import { Cache, type ObjectChange } from '../../../../src/kube/loop/cache.ts';
import { podGangReconciler } from '../../../../src/controller/gangs/reconcile-pod-gang.ts';
import { POD_INDEXERS } from '../../../../src/controller/watch/gang-view.ts';
import { countLooks } from '../../kube/loop/looks.ts';
import type { Reconcile } from '../../../../src/kube/loop/keyed-controller.ts';
import { EVERY_GANG, type GangSelectors } from '../../../../src/gang/gang-selection.ts';
import type { GangRecord, NamespaceRecord, PodRecord } from '../../../../src/gang/records.ts';
import { readGangRecord, readNamespaceRecord, readPodRecord } from '../../../../src/gang/read-records.ts';

const GATE = 'grove.io/podgang-pending-creation';
const signal = new AbortController().signal;
const KEY = 'ml/train';

let pods: Cache<PodRecord>;
let gangs: Cache<GangRecord>;
let namespaces: Cache<NamespaceRecord>;
let selectors: { -readonly [K in keyof GangSelectors]: GangSelectors[K] };
let wrote: string[];
let said: string[];
let observed: string[];
let synced: boolean;
let answer: (what: string) => void;
let fresh: GangRecord | undefined;
let freshPods: PodRecord[];
let reads: number;
/** As the last write left it. */
let server: GangRecord | undefined;
let versions: number;
let reconcile: Reconcile;
let memory: WriteMemory;

const pod = (name: string, version: number, gated = true): PodRecord =>
  readPodRecord({
    metadata: {
      namespace: 'ml',
      name,
      uid: `uid-${name}`,
      resourceVersion: String(version),
      labels: { 'grove.io/podgang': 'train', 'grove.io/podclique': 'worker' },
    },
    spec: { schedulingGates: gated ? [{ name: GATE }] : [] },
  });

const gang = (version: number, references: string[] = [], initialized = false): GangRecord =>
  readGangRecord({
    metadata: { namespace: 'ml', name: 'train', uid: 'uid', resourceVersion: String(version), generation: 1 },
    spec: {
      podgroups: [
        {
          name: 'worker',
          minReplicas: 2,
          podReferences: references.map((name) => ({ namespace: 'ml', name })),
        },
      ],
    },
    ...(initialized
      ? {
          status: {
            phase: 'Pending',
            conditions: [{ type: 'Initialized', status: 'True', reason: 'PodGangPodsCreated', message: '' }],
          },
        }
      : {}),
  });

const record = (what: string): void => {
  wrote.push(what);
  answer(what);
};
/** The gang after a write, as the API server answers it: with a resourceVersion of its own. */
const stored = (name: string, before: string, change: Partial<GangRecord>): Promise<GangRecord> => {
  const known = server?.resourceVersion === before ? server : gangs.get('ml', name);
  server = { ...(known ?? gang(1)), ...change, resourceVersion: String((versions += 1)) };
  return Promise.resolve(server);
};
const writer: GangWriter = {
  references: async ({ name: of }, { resourceVersion, groups: [group] }) => {
    const references = group?.references ?? [];
    record(`references ${references.map(({ name }) => name).join(' ')}`);
    const { spec } = gang(
      1,
      references.map(({ name }) => name),
    );
    return stored(of, resourceVersion, { spec });
  },
  status: async ({ name }, { resourceVersion, phase, conditions }) => {
    record(`status ${conditions.find(({ type }) => type === 'Initialized')?.status}`);
    return stored(name, resourceVersion, { phase, conditions });
  },
  fresh: () => {
    reads += 1;
    return Promise.resolve(fresh);
  },
  freshPods: (_, names) => Promise.resolve(freshPods.filter(({ name }) => names.includes(name))),
  ungate: async (ungates, done) => {
    for (const ungate of ungates) {
      record(`ungate ${ungate.pod}`);
      done(ungate);
    }
    return Promise.resolve();
  },
};

beforeEach(() => {
  pods = new Cache(POD_INDEXERS);
  gangs = new Cache();
  namespaces = new Cache();
  selectors = { ...EVERY_GANG };
  [wrote, said, observed, synced, fresh, freshPods] = [[], [], [], true, undefined, []];
  [reads, server, versions] = [0, undefined, 99];
  answer = () => undefined;
  memory = new WriteMemory();
  reconcile = podGangReconciler({
    memory,
    view: { pods, gangs, namespaces },
    selectors,
    synced: () => synced,
    registry: new BackendRegistry([{ name: 'default-scheduler' }], 'default-scheduler'),
    writer: () => writer,
    recorder: { event: (_, { reason }) => said.push(reason) },
    now: () => Date.UTC(2026, 0, 1),
    observer: {
      planned: (key, _, { ungate }) => observed.push(`planned ${key} ${ungate.length}`),
      ungated: (ungate) => observed.push(`ungated ${ungate.pod}`),
      initialized: () => observed.push('initialized'),
    },
  });
});

test('nothing is written before the caches are there', async () => {
  synced = false;
  gangs.put(gang(1));
  pods.put(pod('a', 2));
  await reconcile(KEY, signal);
  expect(wrote).toEqual([]);
});

test('references first, then Initialized, then gates, each on the answer to the one before', async () => {
  gangs.put(gang(1));
  pods.put(pod('b', 2));
  pods.put(pod('a', 3));
  await reconcile(KEY, signal);
  expect(wrote.splice(0)).toEqual(['references a b', 'status True', 'ungate a', 'ungate b']);
  expect(reads).toBe(0);
  expect(said).toEqual(expect.arrayContaining(['ReferencesUpdated', 'GatesRemoved']));
});

test('while the caches are behind what was answered, it goes by the answer', async () => {
  gangs.put(gang(1));
  pods.put(pod('a', 2));
  pods.put(pod('b', 3));
  await reconcile(KEY, signal);
  wrote = [];
  const looks = [gang(1), gang(100, ['a', 'b']), server];
  for (const known of looks) {
    if (known !== undefined) gangs.put(known);
    // The gates are off by the watch of Pods, which is ahead of that of PodGangs.
    pods.put(pod('a', 4, false));
    await reconcile(KEY, signal);
  }
  expect({ wrote, early: said.includes('UngatedEarly') }).toEqual({ wrote: [], early: false });
  // What the cache shows after that counts again.
  gangs.put({ ...gang(200, ['a'], true), generation: 2 });
  await reconcile(KEY, signal);
  expect(wrote).toEqual(['references a b', 'status True']);
});

/** When the gang would be judged for what the caches are told now. */
const urgencies = (changes: readonly (ObjectChange<GangRecord> | ObjectChange<PodRecord>)[]): Urgency[] =>
  changes.map((change) => urgencyOf(KEY, change, memory));

test('of what it wrote itself, the watches bring nothing new but the last gate', async () => {
  gangs.put(gang(1));
  pods.put(pod('a', 2));
  pods.put(pod('b', 3));
  await reconcile(KEY, signal);
  expect(urgencies(gangs.put(gang(100, ['a', 'b'])))).toEqual(['never']);
  expect(urgencies(gangs.put(server as GangRecord))).toEqual(['never']);
  expect(urgencies(pods.put(pod('b', 4, false)))).toEqual(['never']);
  expect(urgencies(pods.put(pod('a', 5, false)))).toEqual(['now']);
  expect(urgencies(gangs.put(gang(200, ['a', 'b'], true)))).toEqual(['now']);
});

test('a gate that the watch shows off before the answer is there keeps nobody waiting for it', async () => {
  gangs.put(gang(1));
  pods.put(pod('a', 2));
  pods.put(pod('b', 3));
  const early: Urgency[] = [];
  answer = (what) => {
    if (what === 'ungate a') early.push(...urgencies(pods.put(pod('a', 4, false))));
  };
  await reconcile(KEY, signal);
  expect(early).toEqual(['soon']);
  expect(urgencies(pods.put(pod('b', 5, false)))).toEqual(['now']);
});

test('an answer confirms nothing of Pods that were not known before it', async () => {
  gangs.put(gang(1, ['a', 'b']));
  pods.put(pod('a', 2));
  pods.put(pod('b', 3));
  answer = (what) => {
    // The gang was deleted and made again, with Pods of the same names, of which only the watch of Pods tells.
    if (what === 'status True') pods.put({ ...pod('b', 9), uid: 'another' });
  };
  fresh = { ...gang(10, ['a', 'b'], true), uid: 'another' };
  await reconcile(KEY, signal);
  expect({ wrote, reads }).toEqual({ wrote: ['status True'], reads: 1 });
});

test('no gate comes off where the API server knows another gang by now', async () => {
  gangs.put(gang(1, ['a', 'b'], true));
  pods.put(pod('a', 2));
  pods.put(pod('b', 3));
  fresh = { ...gang(5, ['a', 'b'], true), uid: 'another' };
  expect(await reconcile(KEY, signal)).toEqual({ requeueAfterMs: expect.any(Number) });
  fresh = undefined;
  await reconcile(KEY, signal);
  expect(wrote.filter((what) => what.startsWith('ungate'))).toEqual([]);
  expect(said).not.toContain('GatesRemoved');
});

test('no name is taken out of the references while the API server has its Pod, of which a late watch has not told', async () => {
  fresh = gang(9, ['a', 'b', 'c'], true);
  gangs.put(fresh);
  pods.put(pod('a', 2, false));
  pods.put(pod('b', 3, false));
  const references = (): string[] => wrote.splice(0).filter((what) => what.startsWith('references'));
  freshPods = [pod('c', 4)];
  expect(await reconcile(KEY, signal)).toEqual({ requeueAfterMs: expect.any(Number) });
  expect(references()).toEqual([]);

  freshPods = [{ ...pod('c', 5), group: 'leader' }];
  await reconcile(KEY, signal);
  expect(references()).toEqual(['references a b']);
  gangs.put({ ...fresh, resourceVersion: '10' });
  freshPods = [{ ...pod('c', 5), deletionTimestamp: '2026-01-01T00:00:00Z' }];
  await reconcile(KEY, signal);
  expect(references()).toEqual(['references a b']);
});

test('a failed write is said to nobody, and is tried again', async () => {
  gangs.put(gang(1));
  pods.put(pod('a', 2));
  pods.put(pod('b', 3));
  answer = () => {
    throw new Outdated('409');
  };
  await expect(reconcile(KEY, signal)).rejects.toThrow(Outdated);
  expect(said).not.toContain('ReferencesUpdated');
  answer = () => undefined;
  await reconcile(KEY, signal);
  expect(wrote.slice(0, 2)).toEqual(['references a b', 'references a b']);
});

test('a gate whose removal failed is tried again, the others are not', async () => {
  fresh = gang(1, ['a', 'b'], true);
  gangs.put(fresh);
  pods.put(pod('a', 2));
  pods.put(pod('b', 3));
  answer = (what) => {
    if (what === 'ungate b') throw new Error('503');
  };
  await expect(reconcile(KEY, signal)).rejects.toThrow('503');
  wrote = [];
  answer = () => undefined;
  await reconcile(KEY, signal);
  expect(wrote.filter((what) => what.startsWith('ungate'))).toEqual(['ungate b']);
});

test('nothing is written to a gang, or said of it, that is not selected, and it begins once it is', async () => {
  const team = { matchLabels: { team: 'ml' }, matchExpressions: [] };
  selectors.namespaceSelector = team;
  gangs.put(gang(1));
  for (const [name, version] of [
    ['a', 2],
    ['b', 3],
  ] as const)
    pods.put(pod(name, version));
  const label = (version: string, labels: Record<string, string>): void => {
    namespaces.put(
      readNamespaceRecord({ metadata: { name: 'ml', uid: 'n', resourceVersion: version, labels } }),
    );
  };
  await reconcile(KEY, signal);
  label('1', { team: 'web' });
  await reconcile(KEY, signal);
  expect({ wrote, said }).toEqual({ wrote: [], said: [] });
  label('2', { team: 'ml' });
  await reconcile(KEY, signal);
  expect(wrote[0]).toBe('references a b');
});

test('the observer hears of every look, of Initialized once it is written, and of each gate that is off', async () => {
  gangs.put(gang(1, ['a', 'b']));
  pods.put(pod('a', 2));
  pods.put(pod('b', 3));
  answer = () => {
    throw new Error('503');
  };
  await expect(reconcile(KEY, signal)).rejects.toThrow('503');
  expect(observed.splice(0)).toEqual(['planned ml/train 0']);
  answer = (what) => {
    if (what === 'ungate b') throw new Error('503');
  };
  await expect(reconcile(KEY, signal)).rejects.toThrow('503');
  expect(observed.splice(0)).toEqual([
    'planned ml/train 0',
    'initialized',
    'planned ml/train 2',
    'ungated a',
  ]);

  // The status is written again for its other conditions: that is no second time.
  fresh = gang(1001, ['a', 'b'], true);
  gangs.put(fresh);
  answer = () => undefined;
  await reconcile(KEY, signal);
  expect(observed).toEqual(['planned ml/train 2', 'ungated b']);
});

test('a gang without Pods holds up no other (vector 33)', async () => {
  gangs.put({ ...gang(1), name: 'empty', uid: 'uid-empty' });
  gangs.put(gang(2, ['a', 'b']));
  pods.put(pod('a', 3));
  pods.put(pod('b', 4));
  await reconcile('ml/empty', signal);
  await reconcile(KEY, signal);
  expect(wrote.slice(0, 2)).toEqual(['status False', 'status True']);
});

test('to judge a gang takes as many looks beside a thousand others of its namespace as alone', async () => {
  gangs.put(gang(1));
  pods.put(pod('a', 2));
  pods.put(pod('b', 3));
  const looks = async () => {
    const counted = countLooks();
    await reconcile(KEY, signal);
    return counted.end();
  };
  await reconcile(KEY, signal);
  const alone = await looks();
  expect(alone.objects).toBeGreaterThan(2);
  for (let index = 0; index < 1_000; index += 1) {
    const [name, uid] = [`more-${index}`, `uid-of-${index}`];
    gangs.put({ ...gang(1), name, uid });
    pods.put({ ...pod(name, 2), gang: name });
  }
  expect(await looks()).toEqual(alone);
});
