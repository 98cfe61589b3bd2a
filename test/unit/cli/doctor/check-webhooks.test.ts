import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { manifestsIn } from '../../../support/manifests.ts';
import { checkWebhooks, type WebhookConfigurations } from '../../../../src/cli/doctor/check-webhooks.ts';
import { EXPECTED_WEBHOOKS, WORKLOADS_WEBHOOK } from '../../../../src/cli/doctor/expected-webhooks.ts';
import { found } from '../../../../src/cli/doctor/diagnosis.ts';
import { told, wrong } from './told.ts';

type Webhook = Record<string, unknown> & { name: string; clientConfig?: unknown };
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

test('what ships is what is expected, and there is nothing to say of its order', () => {
  expect(told(checkWebhooks(cluster(() => undefined)))).toEqual([]);
  expect(
    shipped
      .flatMap(({ kind, webhooks }) =>
        webhooks.map(({ name, clientConfig }) => ({ kind, name, clientConfig })),
      )
      .map(({ kind, name, clientConfig }) => [kind, name, (clientConfig as Client).service.path].join(' '))
      .sort(),
  ).toEqual(
    [...EXPECTED_WEBHOOKS, WORKLOADS_WEBHOOK].map(({ kind, name, path }) => `${kind} ${name} ${path}`).sort(),
  );
});

interface Client {
  readonly service: { readonly path: string };
}

describe('finds', () => {
  test.each([
    ['a wrong path', 'https://10.0.0.1:9443/mutate', '/mutate'],
    ['no path', 'not a URL', 'no path'],
  ])('%s of a URL', (_what, url, path) => {
    const wrongPath = cluster((mutating) => void (first(mutating)['clientConfig'] = { url }));
    expect(wrong(checkWebhooks(wrongPath))).toEqual([
      `problem webhooks/mutating: pods.muster.dev in muster calls ${path}, and Muster answers at /mutate-v1-pod → kubectl apply -k manifests/base`,
    ]);
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
