/** What is done about the PodGang of a workload, whatever is known and whoever else is at work. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../../src/json/json.ts';
import {
  planMadeGang,
  type GangAction,
  type WorkloadState,
} from '../../../../src/controller/workloads/plan-made-gang.ts';
import { readMemberPod } from '../../../../src/controller/watch/gang-view.ts';
import type { GangRecord, PodRecord } from '../../../../src/gang/records.ts';
import { readGangRecord } from '../../../../src/gang/read-records.ts';
import { gangKindOf } from '../../../../src/workloads/kinds.ts';
import { gangNumbers } from '../../../../src/workloads/gang-numbers.ts';
import { madeGang } from '../../../../src/workloads/made-gang.ts';
import { searchLength } from '../../../support/length.ts';
import { workloadPod } from '../../../support/workload-pods.ts';

const NAME = 'job-train';
const INITIALIZED = { type: 'Initialized', status: 'True' };

const jobPod = (uid: string, at = 0, status: JsonObject = {}, annotations: JsonObject = {}): PodRecord => {
  const pod = workloadPod('job', 'train', 'main', {
    labels: { 'grove.io/podgang': NAME, 'grove.io/podclique': 'main' },
    controller: { uid },
    annotations,
    metadata: {
      name: `train-${uid}-${at}`,
      uid: `pod-${uid}-${at}`,
      creationTimestamp: `2026-01-01T00:00:0${at}Z`,
    },
  });
  return readMemberPod({ ...pod, status });
};
const job = (uid: string, spec: JsonObject = {}, status: JsonObject = {}): WorkloadState => {
  const kind = gangKindOf('job');
  if (kind === undefined) throw new Error('there is no kind job');
  const object = { spec: { parallelism: 2, completions: 2, ...spec }, status };
  return {
    namespace: 'ml',
    name: 'train',
    uid,
    resourceVersion: '1',
    version: 'v1',
    numbers: gangNumbers(object, kind),
  };
};
const stored = (object: JsonObject, version = '1', status: JsonObject = {}): GangRecord => {
  const metadata = {
    ...(object['metadata'] as JsonObject),
    uid: `gang-${version}`,
    resourceVersion: version,
  };
  return readGangRecord({ ...object, metadata, status });
};
const made = (uid: string, minReplicas = 2, status: JsonObject = {}): GangRecord =>
  stored(
    madeGang({
      ...{ namespace: 'ml', name: NAME },
      origin: { kind: 'job', name: 'train', uid },
      groups: [{ name: 'main', minReplicas, replicas: minReplicas }],
    }),
    '1',
    status,
  );
const formed = (uid: string, minReplicas = 2): GangRecord =>
  made(uid, minReplicas, { conditions: [INITIALIZED] });
const planned = (workload: WorkloadState, pods: readonly PodRecord[], gang?: GangRecord): GangAction =>
  planMadeGang({ namespace: 'ml', name: NAME, gang, pods, workload: () => workload });

describe('a PodGang', () => {
  test('is made with the first Pod, from the numbers of its workload, and goes with that', () => {
    expect(planned(job('a'), [jobPod('a')])).toMatchObject({
      do: 'create',
      gang: {
        name: NAME,
        origin: { kind: 'job', name: 'train', uid: 'a' },
        owner: { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'a' },
        groups: [{ name: 'main', minReplicas: 2, replicas: 2 }],
      },
    });
    expect(planned(job('a'), [])).toEqual({ do: 'nothing' });
    expect(planned('unknown', [jobPod('a')])).toEqual({ do: 'nothing' });
  });

  test('has the HPCPolicy of its template, or that by which its Pods were prepared, and the hosts of all of its Pods', () => {
    const metadata = {
      labels: { 'muster.dev/gang': 'true' },
      annotations: { 'muster.dev/hpc-policy': 'flux' },
    };
    const under = { policy: 'flux', hosts: 'main=train-[0-1]' };
    const status = { succeeded: 1 };
    const template = { metadata };
    expect(planned(job('a', { template }, status), [jobPod('a')])).toMatchObject({
      gang: { ...under, groups: [{ minReplicas: 1, replicas: 1 }] },
    });
    const prepared = jobPod('a', 0, {}, { 'muster.dev/prepared': 'flux@1234abcd' });
    expect(planned(job('a'), [prepared])).toMatchObject({ gang: under });
    expect(planned({ unreadable: 'no' }, [jobPod('a', 0, {}, { ...metadata.annotations })])).toMatchObject({
      do: 'say',
    });
    const bare = { labels: {}, annotations: metadata.annotations };
    for (const unasked of [{}, { template: { metadata: bare } }]) {
      expect(planned(job('a', unasked), [jobPod('a')])).toMatchObject({
        gang: { policy: undefined, hosts: undefined },
      });
    }
  });

  test('that has yet to form lists the hosts of its workload as that is now; those of one that has formed stay', () => {
    const hosts = { 'muster.dev/hosts': 'main=train-[0-1]' };
    const under = (gang: GangRecord): GangRecord => ({
      ...gang,
      annotations: new Map([...gang.annotations, ...Object.entries(hosts)]),
    });
    const grown = job('a', { parallelism: 3, completions: 3 });
    expect(planned(grown, [jobPod('a')], under(made('a')))).toMatchObject({
      do: 'change',
      change: { annotations: { 'muster.dev/hosts': 'main=train-[0-2]' } },
    });
    expect(planned(job('a'), [jobPod('a')], under(made('a')))).toEqual({ do: 'nothing' });
    // Neither does it wait for Pods that have no host.
    expect(planned(grown, [jobPod('a')], formed('a'))).toMatchObject({ do: 'change' });
    expect(planned(grown, [jobPod('a')], under(formed('a')))).toEqual({ do: 'nothing' });
    expect(planned(grown, [], under(formed('a', 1)))).toMatchObject({
      do: 'change',
      change: { minimums: new Map([[0, 2]]), annotations: {} },
    });
  });

  test.each([
    [
      'jobset',
      'worker',
      undefined,
      'jobset-train--worker',
      { replicatedJobs: [{ name: 'leader' }, { name: 'worker', replicas: 3 }] },
      [['worker', 3]],
    ],
    [
      'lws',
      'worker',
      '1',
      'lws-train--1',
      { replicas: 2, leaderWorkerTemplate: { size: 4, workerTemplate: {} } },
      [
        ['leader', 1],
        ['worker', 3],
      ],
    ],
  ] as const)(
    'of a part of a workload (%s) has the groups of that part, and goes with the whole',
    (short, of, part, name, spec, groups) => {
      const kind = gangKindOf(short);
      if (kind === undefined) throw new Error(`there is no kind ${short}`);
      const labels = {
        'grove.io/podgang': name,
        'grove.io/podclique': of,
        ...(short === 'jobset' && { 'muster.dev/gang-per': 'replicatedjob' }),
      };
      const pod = readMemberPod(workloadPod(short, 'train', of, { ...(part && { part }), labels }));
      const workload: WorkloadState = {
        ...{ namespace: 'ml', name: 'train', uid: 'root', resourceVersion: '1', version: kind.version },
        numbers: gangNumbers({ spec: spec }, kind),
      };
      const deed = planMadeGang({
        namespace: 'ml',
        name,
        gang: undefined,
        pods: [pod],
        workload: () => workload,
      });
      expect(deed).toMatchObject({
        do: 'create',
        gang: {
          name,
          owner: { kind: kind.kind, name: 'train', uid: 'root' },
          groups: groups.map(([group, count]) => ({ name: group, minReplicas: count, replicas: count })),
        },
      });
    },
  );

  test('that is resumed asks for what is left to do', () => {
    const half = job('a', { completions: 5, parallelism: 4 }, { succeeded: 3 });
    const pods = [jobPod('a', 0, { phase: 'Succeeded' }), jobPod('a', 1)];
    expect(planned(half, pods)).toMatchObject({ do: 'create', gang: { groups: [{ minReplicas: 2 }] } });
  });

  test('of a Job that has given indexes up does not wait for them', () => {
    const left = (failedIndexes: string, succeeded = 0): GangAction =>
      planned(
        job('a', { completions: 8, parallelism: 8, backoffLimitPerIndex: 0 }, { failedIndexes, succeeded }),
        [jobPod('a')],
      );
    expect(left('1,3-5,7', 1)).toMatchObject({ do: 'create', gang: { groups: [{ minReplicas: 2 }] } });
    // Once it has formed the Pod that failed, and stays, does not raise its minimum above those that there are.
    const given = job(
      'a',
      { completions: 3, parallelism: 3, backoffLimitPerIndex: 0 },
      { failedIndexes: '0' },
    );
    const pods = [jobPod('a', 0, { phase: 'Failed' }), jobPod('a', 1), jobPod('a', 2)];
    const deed = planned(given, pods, formed('a'));
    expect(deed.do === 'change' ? [...deed.change.minimums] : []).toEqual([]);
    expect(left('')).toMatchObject({ do: 'create', gang: { groups: [{ minReplicas: 8 }] } });
  });

  test('is given back once no template of its workload asks for it and no Pod of it runs', () => {
    const asking = { metadata: { labels: { 'muster.dev/gang': 'true' } } };
    const asked = (template: JsonObject): WorkloadState => job('a', { template });
    expect(planned(asked(asking), [], formed('a'))).toEqual({ do: 'nothing' });
    expect(planned(asked({}), [], formed('a'))).toMatchObject({ do: 'delete' });
    expect(planned(asked({}), [jobPod('a')], formed('a'))).toEqual({ do: 'nothing' });
    // Somebody else writes the label on the Pods.
    expect(planned(asked({}), [jobPod('a')])).toMatchObject({ do: 'create' });
  });

  test.each([
    ['lws', 'lws-train--1', { replicas: 2 }, 'nothing'],
    ['lws', 'lws-train--1', { replicas: 1 }, 'delete'],
    ['lws', 'lws-train--0', {}, 'nothing'],
    ['lws', 'lws-train--7', { replicas: 5_001 }, 'nothing'],
    ['jobset', 'jobset-train', {}, 'nothing'],
    ['jobset', 'jobset-train--worker', {}, 'delete'],
    ['jobset', 'jobset-train--worker', { per: 'replicatedjob' }, 'nothing'],
    ['jobset', 'jobset-train', { per: 'replicatedjob' }, 'delete'],
  ] as const)('without Pods, of %s: %s with %j is %s', (short, name, given, wanted) => {
    const kind = gangKindOf(short);
    if (kind === undefined) throw new Error(`there is no kind ${short}`);
    const per = 'per' in given ? { 'muster.dev/gang-per': given.per } : {};
    const template = { metadata: { labels: { 'muster.dev/gang': 'true', ...per } } };
    const spec = {
      ...given,
      leaderWorkerTemplate: { size: 2, workerTemplate: template },
      replicatedJobs: [{ name: 'worker', template: { spec: { template } } }],
    };
    const all = short === 'lws' ? ['leader', 'worker'] : ['worker'];
    const gang = stored(
      madeGang({
        ...{ namespace: 'ml', name },
        origin: { kind: short, name: 'train', uid: 'a' },
        groups: all.map((one) => ({ name: one, minReplicas: 1, replicas: 1 })),
      }),
    );
    const workload: WorkloadState = {
      ...{ namespace: 'ml', name: 'train', uid: 'a', resourceVersion: '1', version: kind.version },
      numbers: gangNumbers({ spec }, kind),
    };
    const deed = planMadeGang({ namespace: 'ml', name, gang, pods: [], workload: () => workload });
    expect(deed.do).toBe(wanted);
  });

  test('that somebody marked as made for a workload is not deleted, changed or ended by what that does', () => {
    const groups = [{ name: 'main', minReplicas: 2, podReferences: [] }];
    const marked = (name: string, title: string, owners: readonly string[] = [], uid?: string): GangRecord =>
      stored({
        metadata: {
          ...{ namespace: 'ml', name },
          annotations: { 'muster.dev/workload': title, ...(uid && { 'muster.dev/workload-uid': uid }) },
          ownerReferences: owners.map((one) => ({ uid: one })),
        },
        spec: { podgroups: groups },
      });
    const ended = job('a', {}, { conditions: [{ type: 'Complete', status: 'True' }] });
    for (const workload of ['gone', job('b'), ended, job('a', { parallelism: 1, completions: 1 })] as const) {
      for (const gang of [
        marked('train', 'job/none'),
        marked('train', 'job/none', ['a']),
        marked('train', 'job/train', [], 'a'),
        marked('train', 'other/train'),
        marked(NAME, 'job/train', ['another'], 'a'),
      ]) {
        const given = { namespace: 'ml', name: gang.name, gang, pods: [], workload: () => workload };
        expect(planMadeGang(given)).toEqual({ do: 'nothing' });
      }
      // What Muster made, and what it made for a workload that was deleted without its Pods.
      const gone = { namespace: 'ml', name: NAME, pods: [], workload: () => 'gone' as const };
      for (const gang of [marked(NAME, 'job/train', ['a'], 'a'), marked(NAME, 'job/train', [], 'a')])
        expect(planMadeGang({ ...gone, gang })).toMatchObject({ do: 'delete' });
    }
  });

  test('is not made for another workload, whose label and owner somebody put on a Pod afterwards', () => {
    const mine = jobPod('a', 1);
    const origin = { kind: 'job', name: 'other', uid: 'b', part: undefined, size: undefined };
    const turned: PodRecord = {
      ...jobPod('a', 2),
      origin: { ...origin, controller: { apiVersion: 'batch/v1', kind: 'Job', name: 'other', uid: 'b' } },
    };
    expect(planned(job('b'), [turned])).toEqual({ do: 'nothing' });
    expect(planned(job('a'), [mine, turned])).toMatchObject({ do: 'create', gang: { origin: { uid: 'a' } } });
    expect(planned(job('a'), [mine, turned], formed('a'))).toEqual({ do: 'nothing' });
  });

  test('that somebody deleted while its workload runs is made again, of what is left', () => {
    const going = { ...formed('a'), deletionTimestamp: '2026-01-01T00:00:00Z' };
    const running = [0, 1].map((at) => jobPod('a', at, { phase: 'Running' }));
    expect(planned(job('a'), running, going)).toEqual({ do: 'nothing' });
    expect(planned(job('a'), running)).toMatchObject({
      do: 'create',
      gang: { groups: [{ minReplicas: 2 }] },
    });
  });

  test('goes where its workload was deleted and its Pods were kept, and is made anew for who takes them', () => {
    const orphan = { ...jobPod('a'), origin: undefined };
    expect(planned('gone', [orphan], formed('a'))).toMatchObject({ do: 'delete', why: 'job/train is gone' });
    expect(planned('gone', [orphan])).toEqual({ do: 'nothing' });
    // A later one of the name has taken the Pods.
    expect(planned(job('b'), [jobPod('b')], formed('a'))).toMatchObject({ do: 'delete' });
  });

  test('that somebody wrote is left as it is', () => {
    const written = stored({
      metadata: { name: NAME, namespace: 'ml' },
      spec: { podgroups: [{ name: 'other', minReplicas: 7, podReferences: [] }] },
    });
    for (const workload of [job('a'), job('b'), job('a', {}, ENDED), 'gone', { unreadable: 'x' }] as const) {
      expect(planned(workload, [jobPod('a')], written)).toEqual({ do: 'nothing' });
    }
  });

  test('of a former workload of the name goes first', () => {
    expect(planned(job('b'), [jobPod('b')], made('a'))).toMatchObject({ do: 'delete' });
    expect(planned({ unreadable: 'no right' }, [jobPod('b')], made('a'))).toMatchObject({ do: 'delete' });
    // One of the watches is behind.
    expect(planned(job('a'), [jobPod('b')])).toEqual({ do: 'nothing', againMs: 1_000 });
    expect(planned('gone', [jobPod('b')])).toEqual({ do: 'nothing', againMs: 1_000 });
  });

  test('follows the numbers; of a gang that has formed the minimum rises with its Pods', () => {
    const more = job('a', { parallelism: 3, completions: 3 });
    const change = (deed: GangAction) => (deed.do === 'change' ? [...deed.change.minimums] : deed.do);
    expect(change(planned(more, [jobPod('a')], made('a')))).toEqual([[0, 3]]);
    expect(change(planned(more, [jobPod('a', 1), jobPod('a', 2)], formed('a')))).toEqual([]);
    expect(
      change(
        planned(
          more,
          [1, 2, 3].map((at) => jobPod('a', at)),
          formed('a'),
        ),
      ),
    ).toEqual([[0, 3]]);
    const less = job('a', { parallelism: 1, completions: 1 });
    expect(change(planned(less, [jobPod('a')], formed('a')))).toEqual([[0, 1]]);
    expect(change(planned(job('a'), [jobPod('a')], formed('a')))).toBe('nothing');
  });

  test('of a Job follows what is left of it while a Pod waits, and costs no write otherwise', () => {
    const seven = (succeeded: number) => job('a', { parallelism: 3, completions: 7 }, { succeeded });
    const change = (deed: GangAction) => (deed.do === 'change' ? deed.change : deed.do);
    const on = (at: number, phase: string): PodRecord => ({
      ...jobPod('a', at, { phase }),
      nodeName: 'node-1',
    });
    const done = [0, 1, 2, 3, 4, 5].map((at) => on(at, 'Succeeded'));
    const gang = formed('a', 3);
    for (const waits of [
      jobPod('a', 6),
      { ...jobPod('a', 6), gates: ['grove.io/podgang-pending-creation'] },
    ]) {
      expect(change(planned(seven(6), [...done, waits], gang))).toEqual({
        minimums: new Map([[0, 1]]),
        annotations: {},
      });
      expect(change(planned(seven(3), [...done.slice(3), waits], gang))).toBe('nothing');
    }
    // Nobody asks the scheduler for anything: as its Pods end one by one nothing is written.
    expect(change(planned(seven(6), [...done, on(6, 'Running')], gang))).toBe('nothing');
    expect(change(planned(seven(5), [...done, on(6, 'Running')], gang))).toBe('nothing');
    // What was lowered is not raised again for that.
    expect(change(planned(seven(6), [...done, on(6, 'Running')], formed('a', 1)))).toBe('nothing');
  });

  test('of which all Pods are replaced asks for all of them at once', () => {
    const four = job('a', { parallelism: 4, completions: 4 });
    const gated = { ...jobPod('a', 1), gates: ['grove.io/podgang-pending-creation'] };
    expect(planned(four, [gated], formed('a', 1))).toMatchObject({
      do: 'change',
      change: { minimums: new Map([[0, 4]]) },
    });
    // One that runs would be below it.
    expect(planned(four, [gated, jobPod('a', 2)], formed('a', 1))).toMatchObject({
      do: 'change',
      change: { minimums: new Map([[0, 2]]) },
    });
  });

  test('of a Job whose completions are all counted waits for what becomes of that', () => {
    const all = { succeeded: 2 };
    expect(planned(job('a', {}, all), [], formed('a'))).toEqual({ do: 'nothing' });
    expect(planned(job('a', {}, all), [], undefined)).toEqual({ do: 'nothing' });
    for (const [type, result] of [
      ['SuccessCriteriaMet', 'Succeeded'],
      ['FailureTarget', 'Failed'],
    ]) {
      const soon = { ...all, conditions: [{ type: type ?? '', status: 'True' }] };
      expect(planned(job('a', {}, soon), [], formed('a'))).toMatchObject({
        change: { annotations: { 'muster.dev/workload-result': result } },
      });
    }
  });

  test('of a suspended workload is given back once no Pod runs', () => {
    const suspended = job('a', { suspend: true });
    expect(planned(suspended, [jobPod('a')], formed('a'))).toEqual({ do: 'nothing' });
    expect(planned(suspended, [], formed('a'))).toMatchObject({ do: 'delete' });
    expect(planned(suspended, [], undefined)).toEqual({ do: 'nothing' });
    expect(planned(suspended, [jobPod('a', 0, { phase: 'Succeeded' })], formed('a'))).toMatchObject({
      do: 'delete',
    });
  });

  test('is told once how its workload ended', () => {
    const deed = planned(job('a', {}, ENDED), [], formed('a'));
    expect(deed).toMatchObject({ change: { annotations: { 'muster.dev/workload-result': 'Succeeded' } } });
    const failed = { conditions: [{ type: 'Failed', status: 'True' }] };
    expect(planned(job('a', {}, failed), [], formed('a'))).toMatchObject({
      change: { annotations: { 'muster.dev/workload-result': 'Failed' } },
    });
    expect(planned(job('a', {}, ENDED), [], undefined)).toEqual({ do: 'nothing' });
  });

  test('of a workload that cannot be read has the numbers that its Pods say, or none', () => {
    const unread = { unreadable: 'Muster may not list them' };
    const said = planned(unread, [jobPod('a')]);
    expect(said).toMatchObject({ do: 'say', reason: 'WorkloadUnreadable' });
    expect(said.do === 'say' && said.message).toContain('jobs cannot be read (Muster may not list them)');
    for (const size of ['', 'main', 'main=x', 'main=1,main=2', 'main=0']) {
      const pod = jobPod('a', 0, {}, { 'muster.dev/gang-size': size });
      expect(planned(unread, [pod])).toMatchObject({ do: 'say', reason: 'WorkloadUnreadable' });
    }
    const pod = jobPod('a', 0, {}, { 'muster.dev/gang-size': 'main=3' });
    expect(planned(unread, [pod])).toMatchObject({ do: 'create', gang: { groups: [{ minReplicas: 3 }] } });
  });
});

const ENDED: JsonObject = { conditions: [{ type: 'Complete', status: 'True' }] };

/** One name in an API server, as two leaders see it: each may act on any state that there ever was. */
test('there is one PodGang in the end, of the workload that is there, whoever crashes and whatever was seen late', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('again' as const) }),
    fc.record({ do: fc.constant('pod' as const) }),
    fc.record({ do: fc.constant('suspend' as const), suspend: fc.boolean() }),
    // Somebody deletes the PodGang; or the workload, and keeps its Pods.
    fc.record({ do: fc.constantFrom('take' as const, 'orphan' as const) }),
    fc.record({ do: fc.constant('lead' as const), seen: fc.nat(5) }),
  );
  const property = fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, mine) => {
    const written = stored(
      {
        metadata: { name: NAME, namespace: 'ml' },
        spec: { podgroups: [{ name: 'main', minReplicas: 1, podReferences: [] }] },
      },
      'mine',
    );
    let run = 0;
    let version = 0;
    let suspended = false;
    let there = true;
    let pods: PodRecord[] = [];
    let gang: GangRecord | undefined = mine ? written : undefined;
    const uid = (): string => `run-${run}`;
    const seen: { gang: GangRecord | undefined; pods: PodRecord[]; workload: WorkloadState }[] = [];
    const observe = (): void => {
      seen.push({ gang, pods: [...pods], workload: there ? job(uid(), { suspend: suspended }) : 'gone' });
    };
    const lead = (back: number): void => {
      const state = seen.at(-1 - back) ?? seen.at(-1);
      if (state === undefined) return;
      const deed = planned(state.workload, state.pods, state.gang);
      // As the API server: a name is there once, and what was read has to be what is there.
      if (deed.do === 'create' && gang === undefined) {
        version += 1;
        gang = stored(madeGang({ ...deed.gang, backend: undefined }), String(version));
      } else if (deed.do === 'delete' && gang?.uid === deed.gang.uid) gang = undefined;
      if (mine) expect(gang).toBe(written);
      observe();
    };
    observe();
    for (const one of steps) {
      if (one.do === 'again') {
        run += 1;
        pods = [];
        there = true;
      } else if (one.do === 'take') {
        if (!mine) gang = undefined;
      } else if (one.do === 'orphan') {
        there = false;
        pods = pods.map((pod) => ({ ...pod, origin: undefined }));
      } else if (one.do === 'suspend') {
        suspended = one.suspend;
        if (suspended) pods = [];
      } else if (one.do === 'pod' && !suspended && there) pods.push(jobPod(uid(), pods.length % 9));
      else if (one.do === 'lead') lead(one.seen);
      observe();
    }
    if (!suspended && there && pods.length === 0) pods.push(jobPod(uid()));
    observe();
    for (let round = 0; round < 3; round += 1) lead(0);
    if (mine) expect(gang).toBe(written);
    else
      expect(gang?.annotations.get('muster.dev/workload-uid')).toBe(suspended || !there ? undefined : uid());
  });
  fc.assert(property, { numRuns: searchLength({ short: 300, long: 20_000 }) });
});
