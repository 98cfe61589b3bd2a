/** Karmada's interpreter over TLS, called as Karmada calls it. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { PATH_INTERPRET } from '../../../src/api/names.ts';
import { fleetEndpoints } from '../../../src/cli/serve/fleet-loop.ts';
import { checkConfiguration, loadConfiguration } from '../../../src/config/load.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { observeLines } from '../../support/observed.ts';
import { contextOf, readAnswer, type Answer, type Question } from '../../unit/fleet/karmada-client.ts';
import { deployment, template, volcanoJob, workload } from '../../unit/workloads/made-workloads.ts';
import { closeAll, expectStatus, start, type Running } from './running.ts';

const logged: string[][] = [];
afterEach(async () => {
  await closeAll();
  observeLines(logged.splice(0).flat());
});

const HEADER = 'apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n';
const KINDS = `${HEADER}fleet:
  interpreter: true
  kinds:
    - group: example.com
      kind: Trainer
      minAvailable: spec.minMember
      templates:
        - { name: driver, template: spec.driver }
        - { items: spec.roles, name: role, nameFrom: role, template: pod, replicas: count, minAvailable: least }
      single: { template: spec.driver }
    - group: example.com
      kind: Solo
      version: v2
      single: { template: spec.pod, replicas: spec.size, minAvailable: spec.least }
`;
const configurationOf = (text: string) =>
  loadConfiguration({ text, env: {}, flags: {}, supportedSchedulers: ['default-scheduler'] }).configuration;

/** A whole program with the interpreter, its log at level debug. */
async function interpreter(
  text = `${HEADER}fleet: { interpreter: true }\n`,
): Promise<Running & { readonly said: string[] }> {
  const said: string[] = [];
  const log = createLogger({
    level: 'debug',
    format: 'json',
    sink: { write: (line) => void said.push(line) },
  });
  logged.push(said);
  const running = await start({ text, endpoints: fleetEndpoints(configurationOf(text), log) });
  return { ...running, said };
}

/** As Karmada's client: the timeout in the URL, and its checks of the answer. */
async function ask(
  running: Running,
  operation: string,
  question: Omit<Question, 'operation'>,
  uid = 'u-1',
): Promise<Answer> {
  const whole = { operation, ...question };
  const { status, body } = await running.post(
    `${PATH_INTERPRET}?timeout=3s`,
    JSON.stringify(contextOf(uid, whole)),
  );
  expect(status).toBe(200);
  return readAnswer(uid, whole, body);
}

const job = volcanoJob({
  minAvailable: 3,
  tasks: [
    { name: 'm', template: template({ cpu: '1' }) },
    { name: 'w', replicas: 4 },
  ],
});

test('all eight operations are answered, counted and logged', async () => {
  const running = await interpreter();
  expect((await ask(running, 'InterpretComponent', { object: job })).components).toHaveLength(2);
  expect((await ask(running, 'InterpretReplica', { object: job })).replicas).toBe(5);
  expect((await ask(running, 'ReviseReplica', { object: deployment({}), replicas: 3 })).object).toMatchObject(
    { spec: { replicas: 3 } },
  );
  expect((await ask(running, 'ReviseReplica', { object: job })).object).toEqual(job);
  expect((await ask(running, 'InterpretStatus', { object: job })).rawStatus).toEqual({});
  expect((await ask(running, 'InterpretHealth', { object: job })).healthy).toBe(true);
  expect((await ask(running, 'InterpretDependency', { object: job })).dependencies).toEqual([]);
  const observedObject = volcanoJob({ minAvailable: 2, queue: 'q' });
  expect((await ask(running, 'Retain', { object: job, observedObject })).object).toMatchObject({
    spec: { minAvailable: 2, queue: 'q' },
  });
  const aggregatedStatus = [{ clusterName: 'm1', status: { running: 5 } }];
  expect((await ask(running, 'AggregateStatus', { object: job, aggregatedStatus })).object).toMatchObject({
    status: { running: 5 },
  });

  const counted = (operation: string, outcome: string) =>
    running.metric(
      `muster_admission_requests_total{path="${PATH_INTERPRET}",operation="${operation}",outcome="${outcome}"}`,
    );
  expect([await counted('Retain', 'patched'), await counted('ReviseReplica', 'allowed')]).toEqual([1, 1]);
  expect(running.said.map((line) => JSON.parse(line) as object)[0]).toMatchObject({
    level: 'debug',
    uid: 'u-1',
    operation: 'InterpretComponent',
    kind: 'Job',
    namespace: 'ml',
    name: 'train',
    msg: 'interpreted',
  });
  await running.alive();
});

test('what cannot be said of an object is said in the answer, and in the log', async () => {
  const running = await interpreter();
  const unknown = await ask(
    running,
    'InterpretComponent',
    { object: workload('example.com/v1', 'Trainer', {}) },
    'u-2',
  );
  expect(unknown).toMatchObject({ successful: false, status: { code: 422 } });
  expect(await ask(running, 'Prune', { object: job })).toMatchObject({
    successful: false,
    status: { code: 400 },
  });
  expect(JSON.parse(running.said[0] ?? '')).toMatchObject({
    level: 'info',
    uid: 'u-2',
    msg: 'not interpreted',
    reason: unknown.status?.message,
  });
  const denied = (operation: string) =>
    running.metric(
      `muster_admission_requests_total{path="${PATH_INTERPRET}",operation="${operation}",outcome="denied"}`,
    );
  expect([await denied('InterpretComponent'), await denied('unknown')]).toEqual([1, 1]);
});

test('what is no question is refused without Retry-After: asking again would not help', async () => {
  const running = await interpreter();
  for (const body of [
    '{',
    'null',
    '{"kind":"AdmissionReview"}',
    JSON.stringify({ ...contextOf('', { operation: 'Retain', object: job }) }),
  ]) {
    const answer = await running.post(PATH_INTERPRET, body);
    expectStatus(answer, 400, /./);
    expect(answer.headers['retry-after']).toBeUndefined();
  }
});

test('a body of nothing is told in words of no other protocol', async () => {
  const running = await interpreter();
  const answer = await running.post(PATH_INTERPRET, '');
  expectStatus(answer, 400, /: the body is empty, JSON is needed$/);
});

test('an object above the 1 MiB of Karmada’s own servers', async () => {
  const running = await interpreter();
  const note = 'x'.repeat(2 * 1024 * 1024);
  const large = volcanoJob(
    { tasks: [{ name: 'w', replicas: 2 }] },
    { metadata: { name: 'large', annotations: { note } } },
  );
  expect((await ask(running, 'InterpretReplica', { object: large })).replicas).toBe(2);
});

test('is not there unless the configuration says so', async () => {
  const running = await start({
    endpoints: fleetEndpoints(configurationOf(HEADER), createLogger({ level: 'error', format: 'json' })),
  });
  expectStatus(await running.post(PATH_INTERPRET, '{}'), 404, /no such path/);
});

describe('kinds of the configuration', () => {
  const pod = (cpu: string) => ({ containers: [{ name: 'c', resources: { requests: { cpu } } }] });
  const trainer = workload('example.com/v7', 'Trainer', {
    minMember: 4,
    driver: { spec: pod('1') },
    roles: [
      { role: 'ps', count: 2, pod: pod('2') },
      { count: 3, least: 1, pod: pod('4') },
    ],
  });

  test('several templates, lists of them, a minimum of the whole; before the single one', async () => {
    const running = await interpreter(KINDS);
    expect((await ask(running, 'InterpretComponent', { object: trainer })).components).toEqual([
      { name: 'driver', replicas: 1, replicaRequirements: { resourceRequest: { cpu: '1' } } },
      { name: 'ps', replicas: 2, replicaRequirements: { resourceRequest: { cpu: '2' } } },
      { name: 'role-1', replicas: 3, replicaRequirements: { resourceRequest: { cpu: '4' } } },
    ]);
    const failed = { ...trainer, status: { conditions: [{ type: 'Failed', status: 'True' }] } };
    expect((await ask(running, 'InterpretHealth', { object: failed })).healthy).toBe(false);
    const observedObject = workload('example.com/v7', 'Trainer', {
      minMember: 5,
      roles: [{ least: 2 }, { least: 2 }],
    });
    expect((await ask(running, 'Retain', { object: trainer, observedObject })).object).toMatchObject({
      spec: { minMember: 5, roles: [{ least: 2 }, { least: 2 }] },
    });
  });

  test('one template', async () => {
    const running = await interpreter(KINDS);
    const solo = workload('example.com/v1', 'Solo', { size: 6, least: 4, pod: pod('1') });
    expect((await ask(running, 'InterpretReplica', { object: solo })).replicas).toBe(6);
    expect((await ask(running, 'ReviseReplica', { object: solo, replicas: 2 })).object).toMatchObject({
      spec: { size: 2, least: 2 },
    });
    expect((await ask(running, 'ReviseReplica', { object: solo })).object).toMatchObject({
      spec: { size: 0, least: 0 },
    });
  });

  test.each<readonly [string, string, RegExp]>([
    [
      'a path that is an expression',
      '{ group: a.b, kind: K, single: { template: "spec.x[0]" } }',
      /fleet\.kinds\[0\]\.single\.template: must be a path such as "spec\.worker\.replicas"/,
    ],
    ['no template', '{ group: a.b, kind: K }', /fleet\.kinds\[0\]: must say where Pod templates are/],
    [
      'no name',
      '{ group: a.b, kind: K, templates: [{ template: spec.t }] }',
      /templates\[0\]\.name: is required where there are no items/,
    ],
    [
      'a name from an item that is none',
      '{ group: a.b, kind: K, templates: [{ name: n, nameFrom: x, template: spec.t }] }',
      /nameFrom: is for items only/,
    ],
    [
      'a kind that is none',
      '{ group: a.b, kind: trainers, single: { template: spec.t } }',
      /kind: must be the name of a kind such as "Trainer"/,
    ],
    [
      'a group that is none',
      '{ group: A/v1, kind: K, single: { template: spec.t } }',
      /group: must be an API group/,
    ],
    [
      'a name of a component that is none',
      '{ group: a.b, kind: K, templates: [{ name: "a b", template: spec.t }] }',
      /name: must be a name of at most 63/,
    ],
    [
      'two of a kind',
      '{ group: a.b, kind: K, single: { template: spec.t } }\n    - { group: a.b, kind: K, version: v2, single: { template: spec.t } }',
      /fleet\.kinds\[1\]\.kind: duplicate kind/,
    ],
    [
      'a key that is none',
      '{ group: a.b, kind: K, single: { template: spec.t, replica: spec.r } }',
      /unknown key "replica" \(did you mean "replicas"\?\)/,
    ],
  ])('%s is a fault of the configuration', (_, kind, says) => {
    const faults = checkConfiguration(`${HEADER}fleet:\n  kinds:\n    - ${kind}\n`, {
      supportedSchedulers: ['default-scheduler'],
    });
    expect(faults.map(({ path, message }) => `${path}: ${message}`).join('\n')).toMatch(says);
  });
});
