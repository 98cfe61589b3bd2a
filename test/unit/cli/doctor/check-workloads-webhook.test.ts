/** What `muster doctor` says of the webhook that refuses workloads which cannot be gangs. */
import { expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { checkWorkloadsWebhook } from '../../../../src/cli/doctor/check-workloads-webhook.ts';
import type { WebhookConfigurations } from '../../../../src/cli/doctor/check-webhooks.ts';
import { ABSENT, found, unread, type Read } from '../../../../src/cli/doctor/diagnosis.ts';
import type { GangView } from '../../../../src/controller/watch/gang-view.ts';
import { readGangRecord } from '../../../../src/gang/read-records.ts';
import { gangKindsWith } from '../../../../src/workloads/configured-gangs.ts';
import { madeGang } from '../../../../src/workloads/made-gang.ts';
import { workloadsWebhook } from '../../../support/manifests.ts';
import { told } from './told.ts';

type Webhook = Record<string, unknown>;
const shipped = (await workloadsWebhook()) as unknown as Webhook;
const WHERE = 'workloads.muster.dev in muster';
const APPLY = 'kubectl apply -k manifests/base, or your overlay';

const cluster = (...webhooks: readonly Webhook[]): WebhookConfigurations => ({
  MutatingWebhookConfiguration: found([]),
  ValidatingWebhookConfiguration: found(
    webhooks.map((webhook, index) => ({
      metadata: { name: index === 0 ? 'muster' : `muster-${index}` },
      webhooks: [webhook],
    })) as unknown as JsonObject[],
  ),
});
const gangs = (...made: readonly JsonObject[]): Read<Pick<GangView, 'gangs'>> =>
  found({ gangs: { values: () => made.map((one) => readGangRecord(one)) } as unknown as GangView['gangs'] });
const OF_A_JOB = madeGang({
  ...{ namespace: 'ml', name: 'job-train' },
  origin: { kind: 'job', name: 'train', uid: 'a' },
  groups: [{ name: 'main', minReplicas: 2, replicas: 2 }],
});
const RENDERER = {
  ...{ group: 'example.com', version: 'v1', kind: 'Renderer', plural: 'renderers' },
  ...{ labels: { gang: 'example.com/renderer' }, templates: [] },
  single: { template: 'spec.template' },
};
const said = (webhook: Webhook, kinds = gangKindsWith([])): string[] =>
  told(checkWorkloadsWebhook(cluster(webhook), gangs(), kinds));

test('as it ships it is fine', () => {
  expect(said(shipped)).toEqual([
    `ok webhooks/workloads: ${WHERE} sends workloads with the label muster.dev/gang to /validate-workload`,
  ]);
});

test('where it is not registered, that counts once gangs are made of workloads', () => {
  const kinds = gangKindsWith([]);
  const what =
    'workloads.muster.dev is not registered: a workload that cannot be a gang is not told so when it is created';
  const written = { ...OF_A_JOB, metadata: { name: 'mine', namespace: 'ml' } };
  expect(told(checkWorkloadsWebhook(cluster(), gangs(written), kinds))).toEqual([
    `ok webhooks/workloads: ${what}; none asks for a gang so far`,
  ]);
  expect(told(checkWorkloadsWebhook(cluster(), ABSENT, kinds))).toHaveLength(1);
  expect(told(checkWorkloadsWebhook(cluster(), gangs(written, OF_A_JOB), kinds))).toEqual([
    `warning webhooks/workloads: ${what} → ${APPLY}`,
  ]);
});

test('what cannot be seen is not called fine', () => {
  const blind = { ...cluster(), ValidatingWebhookConfiguration: unread('may not list them') };
  expect(told(checkWorkloadsWebhook(blind, gangs(), []))).toEqual([
    'not-checked webhooks/workloads: workloads.muster.dev: may not list them → run it as somebody who may read this, such as cluster-admin',
  ]);
});

const rules = shipped['rules'] as { apiGroups: string[]; operations: string[]; resources: string[] }[];
const MEND = `${APPLY}; for a kind of workloads[] add its resource to the rules, and where its templates stand to the condition (docs/workloads.md)`;
const NOT_TOLD = 'such a workload is not told when it cannot be a gang';

test.each<[string, Webhook, string]>([
  [
    'another path',
    { clientConfig: { url: 'https://10.0.0.1:9443/validate' } },
    `problem webhooks/workloads: ${WHERE} calls /validate, and Muster answers at /validate-workload → ${APPLY}`,
  ],
  [
    'no path',
    { clientConfig: {} },
    `problem webhooks/workloads: ${WHERE} calls no path, and Muster answers at /validate-workload → ${APPLY}`,
  ],
  [
    'kinds that are left out',
    { rules: rules.filter(({ apiGroups }) => !['ray.io', ''].includes(apiGroups[0] ?? '')) },
    `warning webhooks/workloads: ${WHERE} is not asked about CREATE and UPDATE of rayclusters.ray.io, rayjobs.ray.io, rayservices.ray.io, raycronjobs.ray.io, replicationcontrollers: ${NOT_TOLD} → ${MEND}`,
  ],
  [
    'an operation that is left out',
    { rules: [...rules.slice(1), { ...rules[0], operations: ['CREATE'] }] },
    `warning webhooks/workloads: ${WHERE} is not asked about CREATE and UPDATE of jobs.batch.volcano.sh: ${NOT_TOLD} → ${MEND}`,
  ],
  [
    'a failurePolicy by which all wait for it',
    { failurePolicy: 'Fail' },
    `warning webhooks/workloads: ${WHERE} has failurePolicy Fail: while Muster is down no workload with the label is created → set failurePolicy: Ignore (${APPLY})`,
  ],
  [
    'none',
    { failurePolicy: undefined },
    `warning webhooks/workloads: ${WHERE} has failurePolicy unset: while Muster is down no workload with the label is created → set failurePolicy: Ignore (${APPLY})`,
  ],
  [
    'no conditions',
    { matchConditions: undefined },
    `warning webhooks/workloads: ${WHERE} has no matchConditions for the label muster.dev/gang: every workload of the cluster is sent to Muster → ${APPLY}`,
  ],
  [
    'a timeout that is too long',
    { timeoutSeconds: 10 },
    `warning webhooks/workloads: ${WHERE} has timeoutSeconds 10: each such workload waits for as long while Muster is down → set timeoutSeconds: 2 (${APPLY})`,
  ],
  [
    'no timeout',
    { timeoutSeconds: undefined },
    `warning webhooks/workloads: ${WHERE} has timeoutSeconds unset: each such workload waits for as long while Muster is down → set timeoutSeconds: 2 (${APPLY})`,
  ],
])('%s is told', (_, change, line) => {
  expect(said({ ...shipped, ...change })).toEqual([line]);
});

test('a kind of the configuration has to be asked about, too', () => {
  const kinds = gangKindsWith([RENDERER]);
  expect(said(shipped, kinds)).toEqual([
    `warning webhooks/workloads: ${WHERE} is not asked about CREATE and UPDATE of renderers.example.com: ${NOT_TOLD} → ${MEND}`,
  ]);
  const added = { ...rules[0], apiGroups: ['example.com'], resources: ['renderers'] };
  expect(said({ ...shipped, rules: [...rules, added] }, kinds).join()).toMatch(/^ok /);
});

test('registered twice it is asked twice', () => {
  expect(told(checkWorkloadsWebhook(cluster(shipped, shipped), gangs(), gangKindsWith([])))).toEqual([
    'warning webhooks/workloads: workloads.muster.dev is registered 2 times, in muster and muster-1: each request comes as often → kubectl delete validatingwebhookconfiguration with the name that is not Muster’s',
  ]);
});
