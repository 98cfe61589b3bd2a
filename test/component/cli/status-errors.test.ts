import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { run } from '../../../src/cli/run.ts';
import { until } from '../../unit/tls/until.ts';
import { json, list, silence, status } from '../kube/fault-server.ts';
import { processAt } from './fake-tty.ts';
import { GANGS, gangObject, podObject, PODS, WatchedApi } from './watched-api.ts';

let api: WatchedApi;
const ended = async (...args: readonly string[]) => {
  const { io, written } = processAt();
  const code = await run(['status', '--kubeconfig', api.kubeconfig, ...args], io);
  return { code, ...written };
};

// The first makes the keys, and a process takes its time to start where others are busy.
const PATIENCE = 60_000;

beforeEach(async () => {
  api = await WatchedApi.start();
}, PATIENCE);
afterEach(() => api.close());

const NO_RIGHT =
  'pods is forbidden: User "ann" cannot list resource "pods" in API group "" in the namespace "ml"';

describe.each([[[]], [['-w']]])('muster status %j', (args) => {
  test('without the right', async () => {
    api.server.answer(PODS, status(403, NO_RIGHT)).answer(GANGS, list(1, []));
    const { code, out, err } = await ended(...args);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(
      /^error\[CLUSTER_REFUSED\]: list pods: 403 Failure: pods is forbidden: User "ann" cannot list .*\n/,
    );
    expect(err).toContain(
      'fix: It takes the rights to list (with -w also to watch) pods and podgangs.scheduler.grove.io in namespace ml: the ClusterRole "view" has them once Muster is installed.\n',
    );
  });

  test('with credentials that are not accepted', async () => {
    api.server.answer(PODS, status(401, 'Unauthorized')).answer(GANGS, status(401, 'Unauthorized'));
    const { code, err } = await ended(...args);
    expect(code).toBe(1);
    expect(err).toMatch(
      /^error\[CLUSTER_REFUSED\]: list \w+: 401 Unauthorized: .*\nfix: Log in anew, or name another --kubeconfig\.\n$/,
    );
  });

  test('in a cluster that does not know gangs', async () => {
    api.server.answer(PODS, list(1, []), silence).answer(GANGS, status(404, 'the server could not find it'));
    const { code, err } = await ended(...args);
    expect(code).toBe(1);
    expect(err).toBe(
      'error[CLUSTER_REFUSED]: list podgangs: 404 Failure: the server could not find it (it does not know PodGang, scheduler.grove.io/v1alpha1)\n' +
        'fix: Define it with `kubectl apply -k manifests/crds`, or look at another cluster with --kubeconfig.\n',
    );
  });

  test('with a gang that does not exist', async () => {
    api
      .has([gangObject('train', 1, [['leader', 1]])], [podObject('leader-0', 1, { gang: 'eval' })])
      .accepts();
    expect(await ended(...args, 'trian')).toEqual({
      code: 1,
      out: '',
      err:
        'error[GANG_UNKNOWN]: PodGang trian does not exist in namespace ml (did you mean "train"?)\n' +
        'fix: There are: eval, train. Another namespace is named with -n, all with -A.\n',
    });
  });

  test('where there are none at all', async () => {
    api.has([], []).accepts();
    expect((await ended(...args, 'train')).err).toBe(
      'error[GANG_UNKNOWN]: PodGang train does not exist in namespace ml\n' +
        'fix: There are no gangs in namespace ml. Another namespace is named with -n, all with -A.\n',
    );
  });

  test('with nobody at the address of the kubeconfig', async () => {
    await api.server.close();
    const { code, err } = await ended(...args);
    expect(code).toBe(3);
    expect(err).toMatch(
      /^error\[CLUSTER_UNREACHABLE\]: get \/version: no answer from https:.*\nfix: Check that the API server runs/,
    );
    api = await WatchedApi.start();
  });
});

test('a gang that only its Pods know is shown, with exit code 1', async () => {
  api.has([], [podObject('leader-0', 1)]);
  expect(await ended('train')).toMatchObject({
    code: 1,
    out: expect.stringMatching(
      /^ml\/train\nPodGang train does not exist\n└─ Pods that name it\n {5}leader-0 {2}gated/,
    ),
  });
});

describe('a gang that names an HPCPolicy', () => {
  const POLICY = 'GET /apis/muster.dev/v1alpha1/namespaces/ml/hpcpolicies/flux';
  const object = gangObject('train', 1, [['leader', 1]]);
  const hpc = {
    ...object,
    metadata: { ...object.metadata, annotations: { 'muster.dev/hpc-policy': 'flux' } },
  };
  const linesOf = async (...args: readonly string[]): Promise<readonly string[]> =>
    (await ended('train', ...args)).out.split('\n').slice(2, 4);

  test('says who leads, and whom it waits for', async () => {
    const policy = { metadata: { name: 'flux', namespace: 'ml' }, spec: { hpc: { manager: 'flux' } } };
    api.has([hpc], []).server.answer(POLICY, json(policy));
    expect(await linesOf()).toEqual([
      'Flux: lead leader-0 (missing); 0 of 1 brokers there, 0 ready, quorum 1; waits for leader-0 (missing)',
      '└─ leader  0/1 Pods, minimum 1',
    ]);
  });

  test('and in JSON', async () => {
    api.has([hpc], []).server.answer(POLICY, json({ spec: { hpc: {} } }));
    const { out } = await ended('train', '-o', 'json');
    expect((JSON.parse(out) as { gangs: unknown[] }).gangs[0]).toMatchObject({
      hpc: { policy: 'flux', why: '', flux: { lead: { host: 'leader-0', state: 'missing' }, expected: 1 } },
    });
  });

  test.each([
    [
      'is not there',
      404,
      'HPCPolicy flux does not exist in namespace ml: Pods of the gang are refused until it is created',
    ],
    [
      'may not be read',
      403,
      'HPCPolicy flux is not known: it takes the right to get hpcpolicies.muster.dev in ml',
    ],
  ])('says that it %s', async (_, code, line) => {
    api.has([hpc], []).server.answer(POLICY, status(code, 'no'));
    expect((await linesOf())[0]).toBe(line);
  });
});

describe('the process', () => {
  let child: ChildProcessByStdio<null, Readable, Readable>;
  let out: string;
  const start = (...args: readonly string[]): Promise<readonly unknown[]> => {
    api.has([gangObject('train', 1, [['leader', 1]])], []).accepts();
    child = spawn(
      process.execPath,
      ['src/main.ts', 'status', '-w', '--kubeconfig', api.kubeconfig, ...args],
      {
        cwd: fileURLToPath(new URL('../../../', import.meta.url)),
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    out = '';
    child.stdout.on('data', (chunk) => (out += String(chunk)));
    return new Promise((resolve) => child.on('close', (...how) => resolve(how)));
  };

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'ends with 0 on %s',
    async (signal) => {
      const end = start();
      await until('it watches', () => out.includes('train') && api.watched, PATIENCE / 2);
      child.kill(signal);
      expect(await end).toEqual([0, null]);
    },
    PATIENCE,
  );

  test(
    'ends when nobody reads any more, and with 0',
    async () => {
      const end = start('-o', 'json');
      await until('it watches', () => out.includes('train') && api.watched, PATIENCE / 2);
      child.stdout.destroy();
      let version = 1;
      const telling = setInterval(
        () => api.tell(PODS, 'ADDED', podObject(`leader-${++version}`, version)),
        20,
      );
      try {
        expect(await end).toEqual([0, null]);
      } finally {
        clearInterval(telling);
      }
    },
    PATIENCE,
  );
});

test('into a pipe nothing is cut: whoever looks for a name there finds it', async () => {
  const name = 'jobset-training-of-the-large-model--worker-9c1a7c1b2d3e4';
  const groups = Array.from({ length: 9 }, (_, index) => [`group-${index}`, 2] as const);
  api.server.answer(PODS, list(1, [])).answer(GANGS, list(1, [gangObject(name, 1, groups)]));
  const { code, out } = await ended();
  expect(code).toBe(0);
  expect(out.split('\n')[1]).toMatch(new RegExp(`^${name} .*group-0 0/2, .*group-7 0/2 and 1 more`));
  expect(out).not.toContain('…');
});
