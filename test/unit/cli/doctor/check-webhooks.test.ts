import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/api/json.ts';
import { manifestsIn } from '../../../support/manifests.ts';
import { checkWebhooks, type WebhookConfigurations } from '../../../../src/cli/doctor/check-webhooks.ts';
import { EXPECTED_WEBHOOKS } from '../../../../src/cli/doctor/expected-webhooks.ts';
import { found, unread } from '../../../../src/cli/doctor/read.ts';
import { told, wrong } from './told.ts';

type Webhook = Record<string, unknown> & { name: string };
interface Configuration {
  kind: string;
  metadata: { name: string };
  webhooks: Webhook[];
}

const shipped = (await manifestsIn('base')).filter(({ kind }) =>
  kind.endsWith('WebhookConfiguration'),
) as unknown as Configuration[];

/** As they ship, but for `change`. */
function cluster(
  change: (mutating: Configuration, validating: Configuration) => void,
): WebhookConfigurations {
  const [mutating, validating] = structuredClone(shipped) as [Configuration, Configuration];
  change(mutating, validating);
  return {
    MutatingWebhookConfiguration: found([mutating as unknown as JsonObject]),
    ValidatingWebhookConfiguration: found([validating as unknown as JsonObject]),
  };
}
const first = ({ webhooks }: Configuration): Webhook => webhooks[0] as Webhook;

test('what ships is fine, and is what is expected', () => {
  expect(told(checkWebhooks(cluster(() => undefined)))).toEqual([
    'ok webhooks/mutating: pods.muster.dev in muster sends CREATE of pods to /mutate-v1-pod',
    'ok webhooks/mutating: podgangs.muster.dev in muster sends CREATE and UPDATE of podgangs to /mutate-scheduler-grove-io-v1alpha1-podgang',
    'ok webhooks/validating: pods.muster.dev in muster sends CREATE and UPDATE of pods to /validate-v1-pod',
    'ok webhooks/validating: podgangs.muster.dev in muster sends CREATE and UPDATE of podgangs and podgangs/status to /validate-scheduler-grove-io-v1alpha1-podgang',
    'ok webhooks/validating: hpcpolicies.muster.dev in muster sends CREATE and UPDATE of hpcpolicies to /validate-muster-dev-v1alpha1-hpcpolicy',
    'ok webhooks/mutating: workload-pods.muster.dev in muster sends CREATE of pods to /mutate-v1-pod',
    'ok webhooks/validating: workload-pods.muster.dev in muster sends CREATE and UPDATE of pods to /validate-v1-pod',
  ]);
  expect(EXPECTED_WEBHOOKS).toHaveLength(shipped.flatMap(({ webhooks }) => webhooks).length);
});

const APPLY = 'kubectl apply -k manifests/base';

describe('finds', () => {
  test.each<[string, (mutating: Configuration, validating: Configuration) => void, string[]]>([
    [
      'a webhook that is missing',
      (mutating) => void mutating.webhooks.splice(1, 1),
      [
        `problem webhooks/mutating: no MutatingWebhookConfiguration has the webhook podgangs.muster.dev: its objects do not come to Muster → ${APPLY}`,
      ],
    ],
    [
      'a wrong path',
      (mutating) => void (first(mutating)['clientConfig'] = { url: 'https://10.0.0.1:9443/mutate' }),
      [
        `problem webhooks/mutating: pods.muster.dev in muster calls /mutate, and Muster answers at /mutate-v1-pod → ${APPLY}`,
      ],
    ],
    [
      'no path',
      (mutating) => void (first(mutating)['clientConfig'] = {}),
      [
        `problem webhooks/mutating: pods.muster.dev in muster calls no path, and Muster answers at /mutate-v1-pod → ${APPLY}`,
      ],
    ],
    [
      'rules that lack something',
      (_mutating, validating) => {
        first(validating)['rules'] = [
          { apiGroups: ['*'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
        ];
      },
      [`problem webhooks/validating: pods.muster.dev in muster is not asked about UPDATE pods → ${APPLY}`],
    ],
    [
      'rules that ask for more',
      (mutating) => {
        first(mutating)['rules'] = [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE', 'DELETE'],
            resources: ['pods', 'pods/status'],
          },
        ];
      },
      [
        `warning webhooks/mutating: pods.muster.dev in muster is also asked about DELETE, pods/status: those wait for Muster when it is down → ${APPLY}`,
      ],
    ],
    [
      'no selector',
      (mutating) => void delete first(mutating)['objectSelector'],
      [
        `problem webhooks/mutating: pods.muster.dev in muster has no objectSelector for the label grove.io/podgang: every Pod of the cluster waits for Muster → ${APPLY}`,
      ],
    ],
    [
      'a failurePolicy that lets everything in',
      (mutating) => void (first(mutating)['failurePolicy'] = 'Ignore'),
      [
        `warning webhooks/mutating: pods.muster.dev in muster has failurePolicy Ignore: while Muster is down its objects come in unprepared → set failurePolicy: Fail (${APPLY})`,
      ],
    ],
    [
      'a timeout that is too long',
      (_mutating, validating) => void (first(validating)['timeoutSeconds'] = 30),
      [
        `warning webhooks/validating: pods.muster.dev in muster has timeoutSeconds 30: 2 to 10 leave room for a second try within one request → set timeoutSeconds: 5 (${APPLY})`,
      ],
    ],
    [
      'no second call',
      (mutating) => void (first(mutating)['reinvocationPolicy'] = 'Never'),
      [
        `warning webhooks/mutating: pods.muster.dev in muster is not called again when a later webhook changes the object (reinvocationPolicy) → set reinvocationPolicy: IfNeeded (${APPLY})`,
      ],
    ],
  ])('%s', (_what, change, expected) => {
    expect(wrong(checkWebhooks(cluster(change)))).toEqual(expected);
  });

  test('one that is registered twice', () => {
    const once = cluster(() => undefined);
    const [mutating, validating] = structuredClone(shipped) as [Configuration, Configuration];
    const copy = { ...mutating, metadata: { name: 'muster-old' }, webhooks: [first(mutating)] };
    const twice = [mutating, copy] as unknown as JsonObject[];
    expect(
      wrong(
        checkWebhooks({
          ...once,
          MutatingWebhookConfiguration: found(twice),
          ValidatingWebhookConfiguration: found([validating as unknown as JsonObject]),
        }),
      ),
    ).toEqual([
      'warning webhooks/mutating: pods.muster.dev is registered 2 times, in muster and muster-old: each request comes as often → kubectl delete mutatingwebhookconfiguration with the name that is not Muster’s',
    ]);
  });

  test('that it may not look', () => {
    const blind = {
      ...cluster(() => undefined),
      MutatingWebhookConfiguration: unread('may not list mutatingwebhookconfigurations'),
    };
    const [line] = wrong(checkWebhooks(blind));
    expect(line).toBe(
      'not-checked webhooks/mutating: pods.muster.dev: may not list mutatingwebhookconfigurations → run it as somebody who may read this, such as cluster-admin',
    );
  });
});

test.each([
  ['muster', 'ok webhooks/order: muster is called before mutating-kai-admission'],
  [
    'zz-muster',
    'problem webhooks/order: zz-muster is called after mutating-kai-admission, which then sees Pods that Muster has not prepared → give the configuration a name that sorts before it, as in manifests/base (muster)',
  ],
])('beside KAI, called %s', (name, expected) => {
  const base = cluster((mutating) => void (mutating.metadata.name = name));
  const kai = { metadata: { name: 'mutating-kai-admission' }, webhooks: [] };
  const { MutatingWebhookConfiguration: read } = base;
  const ours = read.state === 'found' ? read.value : [];
  const findings = checkWebhooks({ ...base, MutatingWebhookConfiguration: found([...ours, kai]) });
  expect(told(findings.filter(({ check }) => check === 'order'))).toEqual([expected]);
});
