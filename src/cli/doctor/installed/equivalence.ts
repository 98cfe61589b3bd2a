import { isDeepStrictEqual } from 'node:util';
import {
  own,
  ownList,
  ownObject,
  ownString,
  isObject,
  type Json,
  type JsonObject,
} from '../../../json/json.ts';

/** LabelSelectors of `controllers.podGang` in the configuration. */
export type Selectors = Readonly<Record<'namespaceSelector' | 'objectSelector', object>>;

/**
 * The webhook configuration of the manifests with the selectors of the cluster, where these are exactly the manifests'
 * conditions and those of the configuration (docs/loop.md).
 */
export const narrowed = (
  wanted: JsonObject,
  found: JsonObject | undefined,
  selectors: Selectors,
): JsonObject => {
  const webhooks = (ownList(wanted, 'webhooks') ?? []).map((webhook) => {
    const live = (ownList(found ?? null, 'webhooks') ?? []).find(
      (one) => ownString(one, 'name') === ownString(webhook, 'name'),
    );
    let narrow = webhook as JsonObject;
    for (const key of ['namespaceSelector', 'objectSelector'] as const) {
      const given = ownObject(live, key);
      const both = [...conditions(own(webhook, key)), ...conditions(selectors[key] as Json)];
      if (given !== undefined && isDeepStrictEqual(new Set(conditions(given)), new Set(both))) {
        narrow = { ...narrow, [key]: given };
      }
    }
    return narrow;
  });
  return { ...wanted, webhooks };
};

/** The conditions of a selector, each as a text: all of them have to hold, in any order. */
function conditions(selector: Json | undefined): readonly string[] {
  const labels = Object.entries(ownObject({ selector: selector ?? null }, 'selector') ?? {}).flatMap(
    ([key, value]) =>
      key === 'matchLabels' ? Object.entries(value as JsonObject).map((one) => JSON.stringify(one)) : [],
  );
  const expressions = (ownList(selector ?? null, 'matchExpressions') ?? []).map((one) => {
    const values = [...(ownList(one, 'values') ?? [])].sort();
    return JSON.stringify([ownString(one, 'key'), ownString(one, 'operator'), values]);
  });
  return [...labels, ...expressions];
}

type Default = readonly [path: string, value: Json];

const WEBHOOK: readonly Default[] = [
  ['webhooks[].failurePolicy', 'Fail'],
  ['webhooks[].matchPolicy', 'Equivalent'],
  ['webhooks[].namespaceSelector', {}],
  ['webhooks[].objectSelector', {}],
  ['webhooks[].timeoutSeconds', 10],
  ['webhooks[].rules[].scope', '*'],
  ['webhooks[].clientConfig.service.port', 443],
];
const POLICY: readonly Default[] = [
  ['spec.failurePolicy', 'Fail'],
  ['spec.matchConstraints.matchPolicy', 'Equivalent'],
  ['spec.matchConstraints.namespaceSelector', {}],
  ['spec.matchConstraints.objectSelector', {}],
  ['spec.matchConstraints.resourceRules[].scope', '*'],
];
const BINDING: readonly Default[] = [
  ['spec.matchResources.matchPolicy', 'Equivalent'],
  ['spec.matchResources.namespaceSelector', {}],
  ['spec.matchResources.objectSelector', {}],
];

/** Defaults that the API server sets, of the kinds in which every field is compared. */
const DEFAULTS: Readonly<Record<string, readonly Default[]>> = {
  MutatingWebhookConfiguration: [...WEBHOOK, ['webhooks[].reinvocationPolicy', 'Never']],
  ValidatingWebhookConfiguration: WEBHOOK,
  ValidatingAdmissionPolicy: POLICY,
  MutatingAdmissionPolicy: POLICY,
  ValidatingAdmissionPolicyBinding: BINDING,
  MutatingAdmissionPolicyBinding: BINDING,
  CustomResourceDefinition: [['spec.conversion', { strategy: 'None' }]],
};

/** The object with the defaults of its kind, as the API server stores it. */
export const withDefaults = (object: JsonObject): JsonObject =>
  (DEFAULTS[ownString(object, 'kind') ?? ''] ?? []).reduce<Json>(
    (filled, [path, value]) => fill(filled, path.split('.'), value),
    object,
  ) as JsonObject;

function fill(at: Json, [step, ...rest]: readonly string[], value: Json): Json {
  if (step === undefined || !isObject(at)) return at;
  const each = step.endsWith('[]');
  const key = each ? step.slice(0, -2) : step;
  const found = own(at, key);
  if (rest.length === 0) return found === undefined ? { ...at, [key]: value } : at;
  if (found === undefined) return at;
  if (!each) return { ...at, [key]: fill(found, rest, value) };
  return Array.isArray(found) ? { ...at, [key]: found.map((one) => fill(one as Json, rest, value)) } : at;
}
