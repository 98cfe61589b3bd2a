/** What a soak is judged by: the schedule, whom a failure is counted to, what the record of etcd says of a gang. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { withSoak } from '../../../bench/soak/docs.ts';
import { blamed, causeOf, excusesAfterMs, NOTICED_MS, type Done } from '../../../bench/soak/failures.ts';
import { Ledger } from '../../../bench/soak/ledger.ts';
import { soakOptionsFrom } from '../../../bench/soak/options.ts';
import { countsFor, DISTURBANCES, KINDS, scheduleOf } from '../../../bench/soak/schedule.ts';
import { missed, readSoak } from '../../../bench/soak/results.ts';
import type { Version } from '../../cluster/support/etcd-history.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/reliability.md'), 'utf8');

describe('the schedule', () => {
  test('a long run has every disturbance as often as the issue asks, none before the one before it is over', () => {
    const counts = countsFor(30 * 60);
    expect(counts).toEqual(Object.fromEntries(KINDS.map((kind) => [kind, DISTURBANCES[kind].times])));
    const schedule = scheduleOf(7, 30 * 60, counts);
    expect(schedule).toHaveLength(KINDS.reduce((sum, kind) => sum + DISTURBANCES[kind].times, 0));
    for (const [index, { at }] of schedule.slice(1).entries()) {
      const before = schedule[index];
      expect(at).toBeGreaterThanOrEqual(
        (before?.at ?? 0) + DISTURBANCES[before?.kind ?? 'overload'].seconds - 1,
      );
    }
    expect(schedule.at(-1)?.at).toBeLessThan(30 * 60);
  });

  test('a short run has each once, and the seed decides on the order', () => {
    expect(Object.values(countsFor(60))).toEqual(KINDS.map(() => 1));
    const kinds = (seed: number): string[] => scheduleOf(seed, 300, countsFor(300)).map(({ kind }) => kind);
    expect(kinds(1)).toEqual(kinds(1));
    expect(kinds(1)).not.toEqual(kinds(2));
  });
});

describe('a failed creation', () => {
  const webhook = '500 Internal error: failed calling webhook "pods.muster.dev": failed to call webhook: ';
  const post = 'Post "https://127.0.0.1:20001/v1/pods?timeout=5s": ';
  const failed = (begun: number, failure: string, done: readonly Done[]) =>
    blamed({ begun, ended: begun + 10, failure }, done);

  test.each([
    ['SIGKILL', 'SIGKILL'],
    ['SIGSTOP for 20 s', 'SIGSTOP'],
  ] as const)('by %s: what was in flight, until the balancer has noticed', (kind, who) => {
    const done = [{ kind, begun: 1_000, ended: 30_000 }];
    expect(failed(995, `${webhook}${post}EOF`, done)).toBe(who);
    expect(failed(1_000 + NOTICED_MS, `${webhook}${post}EOF`, done)).toBe(who);
    expect(failed(1_001 + NOTICED_MS, `${webhook}${post}EOF`, done)).toBe('Muster');
    expect(failed(900, `${webhook}${post}EOF`, done)).toBe('Muster');
    // A refusal is no lost connection.
    expect(failed(1_000, '422 the Pod is refused', done)).toBe('Muster');
  });

  test('by others: the balancer and the API server, while they restart', () => {
    const balancer: Done[] = [{ kind: 'balancer restart', begun: 1_000, ended: 2_000 }];
    expect(failed(1_500, `${webhook}${post}dial tcp: connection refused`, balancer)).toBe('balancer');
    expect(failed(3_500, `${webhook}${post}dial tcp: connection refused`, balancer)).toBe('Muster');
    expect(failed(1_500, 'no answer: read ECONNRESET', [])).toBe('API server');
    expect(failed(1_500, '500 etcdserver: request timed out', [])).toBe('API server');
    expect(failed(1_500, `${webhook}etcdserver: request timed out`, [])).toBe('Muster');
    const server: Done[] = [{ kind: 'API server restart', begun: 1_000, ended: 9_000 }];
    expect(failed(5_000, `${webhook}context canceled`, server)).toBe('API server');
  });

  test.each(KINDS)('after %s and the pause before the next one has no excuse', (kind) => {
    const done: Done[] = [{ kind, begun: 1_000, ended: 60_000 }];
    const over = 60_000 + excusesAfterMs(kind);
    expect(failed(over + 1, `${webhook}EOF`, done)).toBe('Muster');
    if (over > 60_000) expect(failed(over, `${webhook}EOF`, done)).not.toBe('Muster');
  });

  test('in a rolling restart, a rotation or an overload has no excuse', () => {
    const kinds = [
      'rolling restart',
      'leaf rotation',
      'CA rotation',
      'overload',
      'rollback and upgrade',
    ] as const;
    for (const kind of kinds)
      expect(failed(1_000, `${webhook}EOF`, [{ kind, begun: 0, ended: 60_000 }])).toBe('Muster');
  });

  test('is named without what makes it unlike others of its cause', () => {
    expect(causeOf(`${webhook}${post}dial tcp 127.0.0.1:20001: connect: connection refused`)).toBe(
      '500 webhook pods.muster.dev: dial tcp address: connect: connection refused',
    );
    expect(causeOf('422 Pod gang-17-3 is refused')).toBe('422 Pod gang is refused');
  });
});

describe('the record of a gang', () => {
  const ended: string[] = [];
  const pod = (name: string, given: { gated?: boolean; node?: string; phase?: string } = {}, revision = 1) =>
    ({
      kind: 'pod',
      name,
      revision,
      object: {
        metadata: { name, uid: name, labels: { 'grove.io/podgang': 'a', 'grove.io/podclique': 'worker' } },
        spec: {
          ...(given.gated === true && { schedulingGates: [{ name: 'grove.io/podgang-pending-creation' }] }),
          ...(given.node !== undefined && { nodeName: given.node }),
        },
        ...(given.phase !== undefined && { status: { phase: given.phase } }),
      },
    }) as unknown as Version;
  const gang = (initialized: boolean): Version => ({
    kind: 'gang',
    name: 'a',
    revision: 1,
    object: {
      metadata: { name: 'a', uid: 'a' },
      spec: {
        podgroups: [
          {
            name: 'worker',
            minReplicas: 2,
            podReferences: initialized ? ['a-0', 'a-1'].map((name) => ({ namespace: 'ml', name })) : [],
          },
        ],
      },
      status: { conditions: [{ type: 'Initialized', status: initialized ? 'True' : 'False' }] },
    },
  });
  const taken = (...versions: readonly Version[]): Ledger => {
    const ledger = new Ledger((name) => ended.push(name));
    versions.forEach((version, at) => ledger.take(version, at * 100));
    return ledger;
  };

  test('from complete to the last gate off is its release; once all have ended it is over', () => {
    const ledger = taken(
      gang(false),
      pod('a-0', { gated: true }),
      pod('a-1', { gated: true }),
      gang(true),
      pod('a-0'),
      pod('a-1'),
    );
    expect(ledger.releases).toEqual([{ at: 500, lagMs: 300 }]);
    for (const name of ['a-0', 'a-1']) ledger.take(pod(name, { node: 'n', phase: 'Succeeded' }), 900);
    expect(ended).toEqual(['a']);
    ledger.take({ kind: 'gang', name: 'a', revision: 9, object: undefined }, 1_000);
    // A Pod that is written once more before it goes makes no gang of it.
    ledger.take(pod('a-0', { node: 'n', phase: 'Succeeded' }), 1_100);
    expect(ledger.stuck()).toEqual([]);
    expect(ledger.early()).toEqual({ ungated: [], bound: [], other: [] });
  });

  test('a gate that is gone too early, and a Pod that is bound too early, are found', () => {
    const ledger = taken(gang(false), pod('a-0', {}, 7), pod('a-0', { node: 'n' }, 8));
    expect(ledger.early()).toEqual({
      ungated: ['a-0 at 7: the gang is not Initialized', 'a-0 at 7: 1 of 2 Pods were there'],
      bound: ['a-0 at 8: 1 of 2 Pods were released'],
      other: [],
    });
    expect(ledger.stuck()).toEqual(['a: of 2 Pods 1 were created, 1 ungated, 1 bound, 0 ended']);
  });

  test('a gang that is complete and keeps its gates waits', () => {
    const ledger = taken(gang(false), pod('a-0', { gated: true }), pod('a-1', { gated: true }));
    expect(ledger.waiting(1_000)).toEqual({ gangs: 1, longestMs: 800 });
  });
});

describe('the command line', () => {
  test('has defaults, and leaves out the rollback where there is no other build', () => {
    expect(soakOptionsFrom(['--seed', '7', '--disturb', 'SIGKILL=2,rollback and upgrade'])).toEqual({
      ...{ seconds: 1800, rate: 50, nodes: 1000, seed: 7, overloadSeconds: 60 },
      counts: { SIGKILL: 2 },
      json: 'bench/soak/results.json',
    });
  });

  test.each([
    [['--rate', 'x'], '--rate x: a number above 0 is needed'],
    [['--minutes', '0'], '--minutes 0: a number above 0 is needed'],
    [['--disturb', 'nothing'], '--disturb nothing: one of rolling restart, leaf rotation'],
    [['--disturb', 'SIGKILL=x'], '--disturb SIGKILL x: a number above 0 is needed'],
    [['--other', '/nowhere'], '--other /nowhere: it has no dist/src/main.js; run `npm run build` there'],
    [['--hours', '1'], "Unknown option '--hours'"],
  ])('%j is refused: %s', (argv, said) => {
    expect(soakOptionsFrom(argv)).toContain(said);
  });
});

describe('docs/reliability.md', () => {
  test('its tables are those of the committed run', () => {
    expect(withSoak(PAGE, readSoak())).toBe(PAGE);
  });

  test('a goal that is missed is one with findings', () => {
    const run = readSoak();
    const goals = run.goals.map((goal, index) => ({ ...goal, found: index === 0 ? 3 : 0 }));
    expect(missed({ ...run, goals })).toEqual([`${run.goals[0]?.name}: 3, and it has to be 0`]);
    expect(missed({ ...run, goals: goals.slice(1) })).toEqual([]);
  });

  test('a place that the page lacks is named', () => {
    expect(() => withSoak('', readSoak())).toThrow('docs/reliability.md has no place for: soak run');
  });
});
