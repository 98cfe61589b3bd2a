/** Admission, the program, the schedulers and the gangs, by table. */
import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { builtInBackends } from '../../../../src/backends/registry.ts';
import { checkBackends, type Backends, type Looked } from '../../../../src/cli/doctor/check-backends.ts';
import { checkGangs } from '../../../../src/cli/doctor/check-gangs.ts';
import { checkProgram, checkVersion, type Program } from '../../../../src/cli/doctor/check-program.ts';
import { checkTrials, type TrialAnswer } from '../../../../src/cli/doctor/check-trial.ts';
import { ABSENT, found, unread } from '../../../../src/cli/doctor/diagnosis.ts';
import { Cache } from '../../../../src/kube/loop/cache.ts';
import type { LeaseRecord } from '../../../../src/kube/loop/lease-record.ts';
import type { GangRecord, PodRecord } from '../../../../src/gang/records.ts';
import { readGangRecord, readPodRecord } from '../../../../src/gang/read-records.ts';
import { told, wrong } from './told.ts';

const NOW = new Date('2026-01-02T00:00:00Z');
const BLIND = 'run it as somebody who may read this, such as cluster-admin';

describe('admission', () => {
  const LOOK = 'kubectl -n muster-system get pods,endpointslices; docs/operations.md, "The webhook is down"';
  const denied = (name: string): TrialAnswer => ({
    refusal: `create: 422 Invalid: admission webhook "${name}.muster.dev" denied the request: no`,
  });
  const stored = (gates: readonly string[]): TrialAnswer => ({
    stored: { spec: { schedulerName: 'volcano', schedulingGates: gates.map((name) => ({ name })) } },
  });
  const GATED = stored(['x', 'grove.io/podgang-pending-creation']);
  const fine = { namespace: 'ml', wrongPod: denied('pods'), pod: GATED, wrongGang: denied('podgangs') };

  test('that answers', () => {
    expect(told(checkTrials(fine))).toEqual([
      'ok admission/answers: Muster answers for pods.muster.dev: it refuses a gang Pod without the label grove.io/podclique (dry run in ml)',
      'ok admission/answers: Muster answers for podgangs.muster.dev: it refuses a PodGang without groups (dry run in ml)',
      'ok admission/gate: a gang Pod gets its gate, and volcano',
    ]);
  });

  test.each<[string, Partial<Parameters<typeof checkTrials>[0]>, string]>([
    [
      'is not asked',
      { wrongPod: GATED },
      `problem admission/answers: a gang Pod without the label grove.io/podclique is let in (dry run in ml): Muster is not asked, or failurePolicy Ignore hides that it does not answer → ${LOOK}`,
    ],
    [
      'does not answer',
      { wrongPod: { refusal: 'create: 500: failed calling webhook "pods.muster.dev": refused' } },
      `problem admission/answers: the API server gets no answer from Muster: create: 500: failed calling webhook "pods.muster.dev": refused → ${LOOK}`,
    ],
    [
      'is not reached',
      { wrongPod: { refusal: 'may not create pods' } },
      'not-checked admission/answers: a gang Pod without the label grove.io/podclique was refused before Muster was asked: may not create pods → name a namespace in which you may create Pods and PodGangs with --try-in',
    ],
    [
      'another webhook is quicker',
      { wrongGang: denied('other') },
      'not-checked admission/answers: a PodGang without groups was refused before Muster was asked: create: 422 Invalid: admission webhook "other.muster.dev" denied the request: no → name a namespace in which you may create Pods and PodGangs with --try-in',
    ],
    [
      'there are no PodGangs',
      { wrongGang: { refusal: '404', missing: true } },
      'not-checked admission/answers: a PodGang without groups was refused before Muster was asked: 404 → install what is missing first, then look again',
    ],
    [
      'a Pod without a gate',
      { pod: stored([]) },
      'problem admission/gate: a gang Pod comes in without the gate grove.io/podgang-pending-creation: its gang may start half → kubectl apply -k manifests/base and -k manifests/policies',
    ],
    [
      'a quota in the way',
      { pod: { refusal: 'exceeded quota' } },
      'not-checked admission/gate: a gang Pod cannot be created in ml (dry run): exceeded quota → name a namespace in which Pods may be created with --try-in',
    ],
  ])('%s', (_what, change, expected) => {
    expect(wrong(checkTrials({ ...fine, ...change }))).toEqual([expected]);
  });
});

test.each([
  ['v1.36.3', 'ok cluster/version: Kubernetes v1.36.3'],
  ['v1.37.0-alpha.1', 'ok cluster/version: Kubernetes v1.37.0-alpha.1'],
  [
    'v1.35.2+k3s1',
    'warning cluster/version: Kubernetes v1.35.2+k3s1 serves no MutatingAdmissionPolicy v1, and its native gangs are older or absent → install with kubectl apply -k manifests/overlays/kubernetes-1.35; docs/backends.md leads to what gangs are here',
  ],
  [
    'v1.29.0',
    "problem cluster/version: Kubernetes v1.29.0 does not serve ValidatingAdmissionPolicy v1, which Muster's manifests need → upgrade to Kubernetes 1.30 or later",
  ],
  ['', 'not-checked cluster/version: the API server calls itself nothing → compare with docs/manifests.md'],
])('Kubernetes %s', (version, expected) => {
  expect(told([checkVersion(version)])).toEqual([expected]);
});

const lease = (change: Partial<LeaseRecord> = {}): LeaseRecord => ({
  holder: 'pod-1',
  durationMs: 15_000,
  acquireTime: '',
  renewTime: '2026-01-01T23:59:50.000000Z',
  transitions: 0,
  ...change,
});

describe('the program', () => {
  const deployment = (ready: number, image: string): JsonObject => ({
    spec: { replicas: 3, template: { spec: { containers: [{ name: 'side' }, { name: 'muster', image }] } } },
    status: { readyReplicas: ready },
  });
  const program = (change: Partial<Program>): Program => ({
    now: NOW,
    namespace: 'muster-system',
    kubernetes: 'v1.36.3',
    muster: '0.1.0',
    deployment: found(deployment(3, 'registry.example:5000/muster:v0.1.0@sha256:00')),
    lease: { key: 'muster-system/muster-leader-election', read: found(lease()) },
    ...change,
  });
  const LOGS = 'kubectl -n muster-system logs deploy/muster: it says why nobody leads';
  const PODS = 'kubectl -n muster-system get pods; docs/operations.md, "The webhook is down"';

  test('that runs', () => {
    expect(told(checkProgram(program({})))).toEqual([
      'ok program/deployment: 3 of 3 replicas are ready',
      'ok program/image: it runs 0.1.0, as does this program',
      'ok program/leader: pod-1 leads (Lease muster-system/muster-leader-election)',
    ]);
  });

  const leased = (read: NonNullable<Program['lease']>['read']): Partial<Program> => ({
    lease: { key: 'n/l', read },
  });
  test.each<[string, Partial<Program>, string]>([
    [
      'fewer replicas',
      { deployment: found(deployment(2, 'muster:0.1.0')) },
      `warning program/deployment: 2 of 3 replicas are ready → ${PODS}`,
    ],
    [
      'no replica',
      { deployment: found(deployment(0, 'muster:0.1.0')) },
      `problem program/deployment: 0 of 3 replicas are ready → ${PODS}`,
    ],
    [
      'another version',
      { deployment: found(deployment(3, 'muster:0.2.0')) },
      'warning program/image: it runs 0.2.0, this program is 0.1.0: what is said here is about 0.1.0 → run the doctor of 0.2.0, or roll the Deployment',
    ],
    [
      'an image without a version',
      { deployment: found(deployment(3, 'muster:dev')) },
      'not-checked program/image: the image muster:dev does not tell its version → compare with `muster version` inside of it',
    ],
    [
      'no Deployment',
      { deployment: ABSENT },
      'not-checked program/deployment: there is no Deployment muster in muster-system: Muster runs elsewhere, or not at all → name its namespace with -n, or kubectl apply -k manifests/base',
    ],
    ['no right', { deployment: unread('may not') }, `not-checked program/deployment: may not → ${BLIND}`],
    [
      'no Lease',
      leased(ABSENT),
      `problem program/leader: there is no Lease n/l: the loop has never run, and no gang moves → ${LOGS}`,
    ],
    [
      'a Lease given up',
      leased(found(lease({ holder: '' }))),
      `problem program/leader: nobody holds the Lease n/l: no gang moves → ${LOGS}`,
    ],
    [
      'a Lease run out',
      leased(found(lease({ renewTime: '2026-01-01T23:59:00Z' }))),
      `problem program/leader: pod-1 has not renewed the Lease n/l since 2026-01-01T23:59:00Z: no gang moves → ${LOGS}`,
    ],
    [
      'a Lease without a time',
      leased(found(lease({ renewTime: '' }))),
      `problem program/leader: pod-1 has not renewed the Lease n/l since : no gang moves → ${LOGS}`,
    ],
    [
      'no election',
      { lease: undefined },
      'not-checked program/leader: leaderElection is off in the configuration → see that one replica runs, and no more',
    ],
    [
      'a Lease that is not shown',
      leased(unread('may not')),
      `not-checked program/leader: may not → ${BLIND}`,
    ],
  ])('%s', (_what, change, expected) => {
    expect(wrong(checkProgram(program(change)))).toEqual([expected]);
  });
});

describe('backends', () => {
  const READY = { state: 'ready', facts: { version: 'x/v1' } } as const;
  const object = (name: string, status: string, isDefault = false): JsonObject => ({
    metadata: { name },
    status: { default: isDefault, conditions: [{ type: 'SchedulerBackendReady', status, message: 'm' }] },
  });
  const deployed = (namespace: string, name: string, readyReplicas?: number): JsonObject => ({
    metadata: { namespace, name },
    status: readyReplicas === undefined ? {} : { readyReplicas },
  });
  const looked = (name: string, change: Partial<Looked> = {}): Looked => ({
    name,
    readiness: READY,
    traces: builtInBackends.find((factory) => factory.name === name)?.traces,
    room: undefined,
    lease: undefined,
    blind: false,
    ...change,
  });
  const cluster = (change: Partial<Backends>): Backends => ({
    now: NOW,
    defaultBackend: 'volcano',
    enabled: [looked('volcano')],
    published: found([object('volcano', 'True', true)]),
    deployments: found([deployed('volcano-system', 'volcano-scheduler', 1)]),
    ...change,
  });
  const enabled = (readiness: Looked['readiness'], blind = false) => ({
    enabled: [looked('volcano', { readiness, blind })],
  });
  const failed = { state: 'failed', reason: 'no CRD' } as const;

  test('that work', () => {
    expect(told(checkBackends(cluster({})))).toEqual([
      'ok backends/volcano: ready, speaks x/v1; the default',
      'ok backends/volcano runs: its scheduler seems to run: volcano-system/volcano-scheduler',
      'ok backends/published: kubectl get schedulerbackends shows the same',
    ]);
  });

  test.each<[NonNullable<Looked['room']>, string]>([
    ['muster', 'Muster makes room for its gangs (preemption.mode is Act)'],
    ['scheduler', 'its scheduler makes room for its gangs itself: Muster does not'],
    ['unknown', 'whether its scheduler makes room for gangs is not known: Muster does not'],
    ['not-asked', 'not among preemption.profiles: Muster makes no room for its gangs'],
  ])('say who makes room where Muster is to: %s', (room, text) => {
    expect(told(checkBackends(cluster({ enabled: [looked('volcano', { room })] })))).toContain(
      `ok backends/volcano preempts: ${text}`,
    );
  });

  test.each<[string, Partial<Backends>, string[]]>([
    [
      'not ready',
      { ...enabled(failed), published: found([object('volcano', 'False', true)]) },
      [
        'problem backends/volcano: not ready, its gangs wait: no CRD → install what it names (docs/backends.md), or take volcano out of scheduler.profiles',
      ],
    ],
    [
      'not ready, which the loop does not know',
      enabled(failed),
      [
        'problem backends/volcano: not ready, its gangs wait: no CRD → install what it names (docs/backends.md), or take volcano out of scheduler.profiles',
        'warning backends/published: the loop has not noticed yet that volcano is not ready → look again in a minute',
      ],
    ],
    [
      'no right to look',
      enabled({ state: 'failed', reason: 'may not' }, true),
      [`not-checked backends/volcano: what it takes cannot be seen: may not → ${BLIND}`],
    ],
    [
      'not asked',
      enabled({ state: 'unknown' }),
      ['not-checked backends/volcano: it was not asked → look again'],
    ],
    [
      'a notice',
      enabled({ state: 'ready', facts: { version: 'x/v1', notices: ['no gang'] } }),
      ['warning backends/volcano: no gang → docs/backends.md leads to a page about it, with what it takes'],
    ],
    [
      'the scheduler down',
      { deployments: found([deployed('volcano-system', 'volcano-scheduler')]) },
      [
        'problem backends/volcano runs: no replica is ready of volcano-system/volcano-scheduler: nothing places its gangs → kubectl describe deployment, and the log of volcano-system/volcano-scheduler',
      ],
    ],
    [
      'the scheduler unseen',
      { deployments: found([deployed('volcano-system', 'volcano-admission', 1)]) },
      [
        'not-checked backends/volcano runs: no Deployment looks like its scheduler → see yourself that it runs: Muster knows only what the charts of schedulers call them',
      ],
    ],
    [
      'the loop disagrees',
      { published: found([object('volcano', 'False', true)]) },
      [
        'problem backends/published: volcano would be ready, and the loop says otherwise: m → see that the loop runs with this configuration: kubectl get schedulerbackends',
      ],
    ],
    [
      'the loop silent',
      { published: found([]) },
      [
        'warning backends/published: the loop has not said anything of volcano → see that the loop runs with this configuration: kubectl get schedulerbackends',
      ],
    ],
    [
      'another default, no longer enabled',
      { published: found([object('volcano', 'True'), object('kai-scheduler', 'Unknown', true)]) },
      [
        'problem backends/published: the loop takes kai-scheduler for the default, the configuration volcano → roll the Deployment: Muster reads its configuration at start; or give the one it runs with as --config',
        'warning backends/published: kai-scheduler was enabled once and no longer is: gangs that name it wait → kubectl delete schedulerbackend kai-scheduler, once no gang is left that it prepared',
      ],
    ],
    [
      'nothing readable',
      { published: unread('may not'), deployments: unread('may not') },
      [
        `not-checked backends/volcano runs: may not → ${BLIND}`,
        `not-checked backends/published: may not → ${BLIND}`,
      ],
    ],
  ])('%s', (_what, change, expected) => {
    expect(wrong(checkBackends(cluster(change)))).toEqual(expected);
  });

  test.each<[string, string, string, boolean]>([
    ['kai-scheduler', 'kai-scheduler', 'kai-scheduler-default', true],
    ['kai-scheduler', 'kai-scheduler', 'scheduler', true],
    ['kai-scheduler', 'kai-scheduler', 'pod-grouper', false],
    ['kai-scheduler', 'kube-system', 'scheduler', false],
    ['coscheduling', 'scheduler-plugins', 'scheduler-plugins-scheduler', true],
    ['coscheduling', 'scheduler-plugins', 'scheduler-plugins-controller', false],
  ])('%s: Deployment %s/%s', (name, namespace, deployment, isIts) => {
    const findings = checkBackends(
      cluster({
        enabled: [looked(name)],
        deployments: found([deployed(namespace, deployment, 1)]),
      }),
    );
    expect(findings.find(({ check }) => check === `${name} runs`)?.severity).toBe(
      isIts ? 'ok' : 'not-checked',
    );
  });

  test.each([
    [lease(), 'ok backends/default-scheduler runs: kube-scheduler runs (pod-1 holds its Lease)'],
    [
      lease({ renewTime: '2026-01-01T20:00:00Z' }),
      'problem backends/default-scheduler runs: kube-scheduler has not renewed its Lease since 2026-01-01T20:00:00Z: nothing places Pods → kubectl -n kube-system get pods -l component=kube-scheduler, and its log',
    ],
  ])('kube-scheduler by its Lease %#', (record, expected) => {
    const findings = checkBackends(
      cluster({
        enabled: [looked('default-scheduler', { lease: found(record) })],
      }),
    );
    expect(told(findings)).toContain(expected);
  });
});

describe('gangs', () => {
  const OLD = '2026-01-01T23:00:00Z';
  const view = (gangs: readonly JsonObject[], pods: readonly JsonObject[]) => {
    const read = { gangs: new Cache<GangRecord>(), pods: new Cache<PodRecord>() };
    for (const gang of gangs) read.gangs.put(readGangRecord(gang));
    for (const pod of pods) read.pods.put(readPodRecord(pod));
    return found(read);
  };
  const gang = (name: string, creationTimestamp: string, status = 'False'): JsonObject => ({
    metadata: { namespace: 'ml', name, uid: name, resourceVersion: '1', creationTimestamp },
    spec: { podgroups: [] },
    status: { conditions: [{ type: 'Initialized', status }] },
  });
  const pod = (name: string, of: string, gates: readonly string[]): JsonObject => ({
    metadata: {
      namespace: 'ml',
      name,
      uid: name,
      resourceVersion: '1',
      creationTimestamp: OLD,
      labels: { 'grove.io/podgang': of },
    },
    spec: { schedulingGates: gates.map((gate) => ({ name: gate })) },
  });
  const GATE = 'grove.io/podgang-pending-creation';

  test('that get on', () => {
    const read = view(
      [gang('new', '2026-01-01T23:55:00Z'), gang('done', OLD, 'True')],
      [pod('p', 'done', [GATE]), pod('q', 'gone', [])],
    );
    expect(told(checkGangs(read, NOW))).toEqual(['ok gangs/waiting: 2 gangs, none waits for long']);
  });

  test('that do not, and Pods of none', () => {
    const read = view([gang('b', OLD), gang('a', OLD)], [pod('p', 'gone', [GATE]), pod('q', 'gone', [GATE])]);
    expect(told(checkGangs(read, NOW))).toEqual([
      'warning gangs/waiting: not Initialized for more than 10 minutes: ml/a, ml/b → muster status -A says of each what it waits for',
      'warning gangs/orphans: gated Pods without a PodGang for more than 10 minutes: ml/gone → create the PodGang, or delete the Pods: muster status -A shows both',
    ]);
  });

  test('that cannot be seen', () => {
    expect(told(checkGangs(unread('may not list pods'), NOW))).toEqual([
      `not-checked gangs/waiting: may not list pods → ${BLIND}`,
    ]);
    expect(checkGangs(ABSENT, NOW)).toEqual([]);
  });
});
