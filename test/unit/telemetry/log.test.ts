import { expect, test } from '@jest/globals';
import { MusterError } from '../../../src/errors.ts';
import { ApiError } from '../../../src/kube/client/errors.ts';
import { LogCounts } from '../../../src/telemetry/failure-lines.ts';
import { decisionLog, createLogger, type DecisionLine, type LogFormat } from '../../../src/telemetry/log.ts';

function logging(format: LogFormat = 'json') {
  const lines: string[] = [];
  const clock = { ms: 0 };
  const sink = { write: (line: string): void => void lines.push(line) };
  const counts = new LogCounts();
  const log = createLogger({ level: 'info', format, sink, counts, now: () => clock.ms });
  return {
    lines,
    clock,
    counts,
    log,
    said: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

const answered = (status: number, reason = 'Reason'): ApiError =>
  new ApiError('patch pods ml/a', { status, reason, message: 'not now' });
const silent = new MusterError('CLUSTER_UNREACHABLE', 'list pods: no answer from https://x: refused', 'look');

test.each([
  [
    answered(500, 'InternalError'),
    { type: 'ApiError', status: 500, message: 'patch pods ml/a: 500 InternalError: not now' },
  ],
  [
    answered(409, 'Conflict'),
    { type: 'ApiError', status: 409, message: 'patch pods ml/a: 409 Conflict: not now' },
  ],
  [
    silent,
    {
      type: 'MusterError',
      code: 'CLUSTER_UNREACHABLE',
      message: 'list pods: no answer from https://x: refused',
    },
  ],
  [
    new Error('the Lease could not be renewed', { cause: silent }),
    {
      type: 'MusterError',
      code: 'CLUSTER_UNREACHABLE',
      message: 'the Lease could not be renewed: list pods: no answer from https://x: refused',
    },
  ],
])('what the API server refused has no stack: %s', (err, expected) => {
  const { log, said } = logging();
  log.error({ err }, 'x failed');
  expect(said()).toEqual([{ level: 'error', time: expect.any(String), err: expected, msg: 'x failed' }]);
});

test('a defect has one, each time', () => {
  const { log, said } = logging();
  const err = new TypeError('undefined is not a function');
  log.error({ err }, 'x failed');
  log.error({ err }, 'x failed');
  expect(said()).toHaveLength(2);
  expect(said()[0]?.['err']).toMatchObject({ type: 'TypeError', stack: expect.stringContaining('log.test') });
});

test('people read why, too', () => {
  const { log, lines } = logging('text');
  log.error({ what: 'leader election', err: silent }, 'leader election failed');
  expect(lines[0]).toMatch(
    /^\[.*\] ERROR: leader election failed \{"what":"leader election"\}\n {4}list pods: no answer from https:\/\/x: refused\n$/,
  );
});

test.each([401, 403, 500, 503])(
  'a failure that lasts is told once a minute, and how often it came: %i',
  (status) => {
    const { log, said, clock } = logging();
    const fail = (gang: string): void =>
      log.error({ gang, err: answered(status), retryInMs: 1 }, 'could not reconcile, trying again');
    for (let index = 0; index < 100; index += 1) fail(`ml/g${index}`);
    expect(said()).toHaveLength(1);
    clock.ms = 59_999;
    fail('ml/a');
    expect(said()).toHaveLength(1);
    clock.ms = 60_000;
    fail('ml/b');
    expect(said()).toHaveLength(2);
    expect(said()[1]).toMatchObject({ gang: 'ml/b', omitted: 100 });
    clock.ms = 120_000;
    fail('ml/c');
    expect(said()[2]).not.toHaveProperty('omitted');
  },
);

test('failures are told apart by what failed, how, and for a 403 whose it was', () => {
  const { log, said } = logging();
  log.error({ what: 'pods', err: answered(500) }, 'watch failed');
  log.error({ what: 'nodes', err: answered(500) }, 'watch failed');
  log.error({ what: 'pods', err: answered(403) }, 'watch failed');
  log.error({ what: 'pods', err: answered(500) }, 'list failed');
  log.error({ gang: 'a/x', err: answered(403) }, 'could not reconcile');
  log.error({ gang: 'b/x', err: answered(403) }, 'could not reconcile');
  log.error({ gang: 'b/y', err: answered(403) }, 'could not reconcile');
  log.error({ err: silent }, 'watch failed');
  expect(said()).toHaveLength(7);
});

test('what does not last is told each time', () => {
  const { log, said } = logging();
  for (const status of [400, 404, 409, 422]) {
    log.error({ err: answered(status) }, 'x');
    log.error({ err: answered(status) }, 'x');
  }
  log.info({ what: 'x' }, 'x');
  log.info('x');
  log.info('x');
  expect(said()).toHaveLength(11);
});

test('however many failures there are, no more than some are remembered', () => {
  const { log, said } = logging();
  const fail = (index: number): void => log.error({ what: `w${index}`, err: answered(500) }, 'x');
  for (let index = 0; index <= 512; index += 1) fail(index);
  fail(512);
  expect(said()).toHaveLength(513);
  fail(0);
  expect(said()).toHaveLength(514);
});

const line = (parts: Partial<DecisionLine> = {}): DecisionLine => ({
  uid: 'u',
  operation: 'CREATE',
  kind: 'Pod',
  subResource: undefined,
  namespace: 'ml',
  name: 'p',
  user: 'alice',
  backend: 'default-scheduler',
  gang: 'ml/train',
  allowed: true,
  rules: [],
  warnings: 0,
  operations: 1,
  dryRun: false,
  ms: 1,
  ...parts,
});

test('of what is let in so many lines a second are told, of what is refused every one', () => {
  const { log, said, clock, counts } = logging();
  const tell = decisionLog(log, 2, counts, () => clock.ms);
  for (let index = 0; index < 5; index += 1) tell(line());
  for (let index = 0; index < 5; index += 1) tell(line({ allowed: false, rules: ['GateProtected'] }));
  expect(said().map(({ allowed }) => allowed)).toEqual([true, true, false, false, false, false, false]);
  expect(said().every((one) => one['omitted'] === undefined)).toBe(true);
  clock.ms = 1_000;
  tell(line());
  tell(line());
  expect(
    said()
      .slice(7)
      .map(({ omitted }) => omitted),
  ).toEqual([3, undefined]);
  expect(counts).toMatchObject({ lines: { info: 9 }, omitted: { decisions: 3 } });
});

test('what is let in with a warning does not go under in what is let in without', () => {
  const { log, said, clock, counts } = logging();
  const tell = decisionLog(log, 2, counts, () => clock.ms);
  for (let index = 0; index < 5; index += 1) tell(line());
  for (let index = 0; index < 5; index += 1) tell(line({ warnings: 1 }));
  expect(said().map(({ warnings }) => warnings)).toEqual([undefined, undefined, 1, 1]);
});

test('lines are counted by level, repeated failures by themselves', () => {
  const { log, counts } = logging();
  log.info('x');
  log.warn({ what: 'x' }, 'x');
  log.debug('not at this level');
  for (let index = 0; index < 4; index += 1) log.error({ err: answered(500) }, 'x');
  expect(counts).toEqual({
    lines: { debug: 0, info: 1, warn: 1, error: 1 },
    omitted: { decisions: 0, repeated: 3 },
    droppedBytes: 0,
  });
});

/** Fifty Pods a second that are prepared, and read again by the validating webhook, for a day. */
test('a day of 50 Pods a second is 0.65 GB of decisions, as docs/operations.md says', () => {
  const { log, lines, clock, counts } = logging();
  const tell = decisionLog(log, 20, counts, () => clock.ms);
  const pod = {
    uid: '2f8a4c7e-6a0b-4a58-9f0f-0d1f9f6d4c11',
    namespace: 'team-research',
    name: 'llama-pretrain-worker-123',
    user: 'system:serviceaccount:kube-system:job-controller',
    gang: 'team-research/llama-pretrain',
    ms: 0.123,
  };
  for (; clock.ms < 60_000; clock.ms += 20) {
    tell(line(pod));
    tell(line({ ...pod, operations: 0 }));
  }
  const aDay = (lines.join('').length * 24 * 60) / 1e9;
  expect(aDay).toBeCloseTo(0.65, 1);
});

test('and of none where nothing but refusals is asked for', () => {
  const { log, said } = logging();
  const tell = decisionLog(log, 0, new LogCounts());
  tell(line());
  tell(line({ warnings: 1 }));
  tell(line({ allowed: false }));
  expect(said()).toHaveLength(1);
});
