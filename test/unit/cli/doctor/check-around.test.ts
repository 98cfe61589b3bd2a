/** What is around Muster's Pods, by table: mounts, rollouts, networks, budgets, clocks, other Musters. */
import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { checkBudget, checkRollout } from '../../../../src/cli/doctor/check-program.ts';
import { checkClock } from '../../../../src/cli/doctor/check-clock.ts';
import { checkCallers, checkNetwork } from '../../../../src/cli/doctor/check-network.ts';
import { neededBy, checkOthers } from '../../../../src/cli/doctor/check-mounts.ts';
import {
  inCluster,
  quotedForShell,
  saying,
  ABSENT,
  found,
  unread,
} from '../../../../src/cli/doctor/diagnosis.ts';
import { fixScript, reportOf } from '../../../../src/cli/doctor/render.ts';
import type { LeaseRecord } from '../../../../src/kube/loop/lease-record.ts';
import { manifestsIn } from '../../../support/manifests.ts';
import { told, wrong } from './told.ts';

const NOW = new Date('2026-01-02T00:00:00Z');
const shipped = (await manifestsIn('base')) as unknown as readonly JsonObject[];
const ofKind = (kind: string): JsonObject => shipped.find((object) => object['kind'] === kind) ?? {};
const deployment = ofKind('Deployment');

test('the Pods need what their template names, and not what is optional', () => {
  const template = {
    spec: {
      containers: [
        {
          env: [
            { name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
            { name: 'B', valueFrom: { configMapKeyRef: { name: 'm', key: 'l', optional: true } } },
          ],
        },
      ],
      volumes: [
        { name: 'certs', secret: { secretName: 'c' } },
        { name: 'p', projected: { sources: [{ secret: { name: 'q', items: [{ key: 'x', path: 'y' }] } }] } },
        { name: 'root', configMap: { name: 'kube-root-ca.crt' } },
      ],
    },
  };
  expect(
    neededBy({ spec: { template } }).map(({ kind, name, keys }) => [kind, name, ...keys].join(' ')),
  ).toEqual(['Secret c tls.crt tls.key', 'Secret q x', 'Secret s k']);
  expect(neededBy(deployment).map(({ name }) => name)).toEqual(['muster-config', 'muster-serving-cert']);
});

describe('a rollout', () => {
  const of = (status: JsonObject, generation = 3) =>
    checkRollout({ metadata: { generation }, status }, 'muster-system', NOW);
  const since = (time: string) => [{ type: 'Progressing', status: 'True', lastUpdateTime: time }];
  test.each<[string, JsonObject, string[]]>([
    ['done', { replicas: 3, updatedReplicas: 3, observedGeneration: 3 }, []],
    ['nobody has looked at', {}, []],
    [
      'under way',
      { replicas: 3, updatedReplicas: 1, conditions: since('2026-01-01T23:59:00Z') },
      ['ok program/rollout: a rollout is under way: 1 of 3 replicas are of the present template'],
    ],
    [
      'that does not get on',
      { replicas: 3, updatedReplicas: 1, conditions: since('2026-01-01T23:40:00Z') },
      [
        'problem program/rollout: the rollout does not get on: 1 of 3 replicas are of the present template → kubectl -n muster-system describe pods: their Events say why; or go back to what ran before',
      ],
    ],
    [
      'not taken up',
      { replicas: 3, updatedReplicas: 3, observedGeneration: 2 },
      [
        'warning program/rollout: the Deployment has changed (generation 3), and nobody has taken it up (2) → look again; if it stays: kubectl -n kube-system get pods, for kube-controller-manager',
      ],
    ],
  ])('%s', (_what, status, expected) => expect(told(of(status))).toEqual(expected));

  test('is gone back from by a command', () => {
    const [finding] = of({
      replicas: 3,
      conditions: [{ type: 'Progressing', status: 'False', message: 'late' }],
    });
    expect(finding?.commands).toEqual(['kubectl -n muster-system rollout undo deployment/muster']);
  });
});

describe('NetworkPolicies add up', () => {
  const policy = (name: string, spec: object): JsonObject => ({
    metadata: { name },
    spec: spec as JsonObject,
  });
  const all = { podSelector: {}, policyTypes: ['Ingress', 'Egress'] };
  const check = (...policies: JsonObject[]) =>
    checkNetwork({ deployment, policies: found(policies), shipped: undefined });
  const own = ofKind('NetworkPolicy');
  test.each<[string, JsonObject[], string[]]>([
    ['none', [], ['ok program/network: no NetworkPolicy is about Muster’s Pods']],
    ['as shipped', [own], ['ok program/network: muster lets through what has to']],
    [
      'beside one that denies all',
      [policy('deny', all), own],
      ['ok program/network: deny, muster lets through what has to'],
    ],
    [
      'by numbers, ranges and addresses',
      [
        policy('numbers', {
          ...all,
          ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: [{ port: 8000, endPort: 9443 }] }],
          egress: [{ ports: [{ port: 6443 }] }],
        }),
      ],
      ['ok program/network: numbers lets through what has to'],
    ],
    [
      'one that is about others',
      [
        policy('other', {
          ...all,
          podSelector: {
            matchExpressions: [{ key: 'app.kubernetes.io/name', operator: 'NotIn', values: ['muster'] }],
          },
        }),
      ],
      ['ok program/network: no NetworkPolicy is about Muster’s Pods'],
    ],
    [
      'one that denies all',
      [
        policy('deny', {
          ...all,
          podSelector: { matchExpressions: [{ key: 'app.kubernetes.io/name', operator: 'Exists' }] },
        }),
      ],
      [
        'problem program/network: no NetworkPolicy lets anybody in to port webhooks: API servers do not reach Muster, and gangs cannot be created',
        'problem program/network: no NetworkPolicy lets anybody in to port health: kubelets do not reach its probes, where the network holds them to it: its Pods never get ready',
        'problem program/network: no NetworkPolicy lets Muster out to port 443 or 6443: it does not reach the API server, and no gang moves',
      ],
    ],
    [
      'UDP is not TCP',
      [
        policy('udp', {
          podSelector: {},
          policyTypes: ['Egress'],
          egress: [{ ports: [{ port: 443, protocol: 'UDP' }] }],
        }),
      ],
      [
        'problem program/network: no NetworkPolicy lets Muster out to port 443 or 6443: it does not reach the API server, and no gang moves',
      ],
    ],
  ])('%s', (_what, policies, expected) =>
    expect(told(check(...policies)).map((line) => line.replace(/ → .*/, ''))).toEqual(expected),
  );
});

test.each<[JsonObject, number, string]>([
  [{ minAvailable: 2 }, 3, ''],
  [{ maxUnavailable: 1 }, 3, ''],
  [{ minAvailable: '50%' }, 3, ''],
  [{ minAvailable: 1 }, 1, 'lets no replica of 1 go'],
  [{ minAvailable: '90%' }, 3, 'lets no replica of 3 go'],
  [{ maxUnavailable: 0 }, 3, 'lets no replica of 3 go'],
  [{ maxUnavailable: '100%' }, 3, 'lets all 3 replicas go at once'],
  [{ minAvailable: 0 }, 1, ''],
])('a budget of %j for %d replicas', (spec, replicas, expected) => {
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'muster' }, spec };
  const [line = ''] = wrong(checkBudget(found(budget), { spec: { replicas } }));
  expect(line).toContain(expected);
  expect(line === '').toBe(expected === '');
});

describe('clocks', () => {
  const lease = (renewTime: string): LeaseRecord => ({
    ...{ holder: 'a', durationMs: 15_000, acquireTime: '', transitions: 0, renewTime },
  });
  const check = (server: string, renewTime = '2026-01-02T00:00:00Z') =>
    told(checkClock({ here: NOW, server: found(new Date(server)), lease: found(lease(renewTime)) }));
  test('that agree, as far as anybody can see', () => {
    expect(check('2026-01-02T00:00:20Z')).toEqual(['ok cluster/clock: the clocks agree']);
    expect(told(checkClock({ here: NOW, server: unread('may not'), lease: undefined }))).toEqual([
      'not-checked cluster/clock: may not → run it as somebody who may read this, such as cluster-admin',
    ]);
  });
  test('of whoever looks, and of who leads', () => {
    expect(check('2026-01-01T23:58:00Z')).toEqual([
      'problem cluster/clock: the API server’s clock is 120 s behind this machine’s: certificates that one of them takes for valid the other may not → set both clocks by NTP (timedatectl on either), then look again',
      'problem cluster/clock: the clock of a, which leads, is 120 s ahead of the API server’s → set the clock of its node by NTP (timedatectl there)',
    ]);
  });
});

test('who may send reviews: said where the API server could be asked for its certificate', () => {
  const server = { metadata: { name: 'kube-apiserver-a', labels: { component: 'kube-apiserver' } } };
  const other = { metadata: { name: 'etcd-a', labels: { component: 'etcd' } } };
  const check = (asked: boolean, ...pods: JsonObject[]) => told(checkCallers({ asked, pods: found(pods) }));
  expect(check(false, other, server)).toEqual([
    'warning program/callers: Muster asks nobody for a client certificate, so that whoever reaches its port may send it reviews, and this cluster could have it do so: its API server runs as Pod kube-apiserver-a → add manifests/components/client-certificate, and give the API server its certificate as docs/certificates.md has it',
  ]);
  expect(check(true, server)).toEqual([
    'ok program/callers: reviews are taken from the API server alone, by its client certificate',
  ]);
  expect([check(false, other), checkCallers({ asked: false, pods: unread('may not') })]).toEqual([[], []]);
});

test('another Muster: by its Deployment or by its Lease, unless it was scaled away or gave up', () => {
  const named = (namespace: string, name: string, replicas = 3): JsonObject => ({
    metadata: { namespace, name, labels: { 'app.kubernetes.io/name': 'muster' } },
    spec: { replicas, template: { spec: { containers: [{ args: ['serve'] }] } } },
  });
  const lease = (holder: string, renewTime: string) => ({
    ...{ holder, durationMs: 15_000, acquireTime: '', transitions: 0, renewTime },
  });
  const fresh = '2026-01-02T00:00:00Z';
  const findings = checkOthers({
    ...{ now: NOW, namespace: 'muster-system' },
    deployments: found([named('muster-system', 'muster'), named('x', 'muster'), named('y', 'muster', 0)]),
    leases: found([
      ...[['muster-system', lease('a', fresh)] as const, ['x', lease('b', fresh)] as const],
      ...[['z', lease('c', fresh)] as const, ['old', lease('d', '2026-01-01T00:00:00Z')] as const],
    ]),
  });
  expect(findings.map(({ check, found: what }) => `${check}: ${what}`)).toEqual([
    'alone: another Muster is installed, Deployment x/muster: each runs a loop of its own, and both evict for the same gang',
    'alone: another Muster leads in z (c holds its Lease): both evict for the same gang',
  ]);
  expect(findings[0]?.commands).toEqual(['kubectl -n x scale deployment/muster --replicas=0']);
  expect(checkOthers({ now: NOW, namespace: 'x', deployments: ABSENT, leases: ABSENT })).toEqual([]);
});

describe('--fix', () => {
  const report = (...findings: Parameters<typeof reportOf>[1]) =>
    reportOf({ server: 's', kubernetes: 'v1', muster: '0' }, findings);
  const problem = (what: string, fix: string) => saying('program', 'x').problem(what, fix);
  test('every line is a command or a comment, whatever a cluster has for names', () => {
    const hostile = {
      ...problem('a\nrm -rf x', 'b'),
      commands: [`kubectl patch x ${quotedForShell("a'b\nc")}`],
    };
    const by = problem('c', 'd\ne');
    expect(fixScript(report(hostile, by, saying('program', 'x').ok('fine')))).toBe(
      "# program/x: a\\u{a}rm -rf x\nkubectl patch x 'a'\\''b\nc'\n\n# program/x: c\n# by hand: d\\u{a}e\n",
    );
    expect(fixScript(report(saying('program', 'x').ok('fine')))).toBe('# nothing is wrong\n');
  });
  test('the commands name the cluster as the doctor was told', () => {
    const finding = { ...problem('a', 'b'), commands: ['kubectl -n x get y'] };
    const flags = { kubeconfig: '/my files/k', context: 'prod' };
    expect(inCluster(finding, flags).commands).toEqual([
      "kubectl --kubeconfig '/my files/k' --context prod -n x get y",
    ]);
    expect(inCluster(finding, {})).toBe(finding);
  });
});
