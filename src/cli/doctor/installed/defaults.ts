import { isObject, own, ownString, type Json, type JsonObject } from '../../../json/json.ts';

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

/** What the API server fills in, of kinds where every field counts. */
const DEFAULTS: Readonly<Record<string, readonly Default[]>> = {
  MutatingWebhookConfiguration: [...WEBHOOK, ['webhooks[].reinvocationPolicy', 'Never']],
  ValidatingWebhookConfiguration: WEBHOOK,
  ValidatingAdmissionPolicy: POLICY,
  MutatingAdmissionPolicy: POLICY,
  ValidatingAdmissionPolicyBinding: BINDING,
  MutatingAdmissionPolicyBinding: BINDING,
  CustomResourceDefinition: [['spec.conversion', { strategy: 'None' }]],
};

/** With the defaults of its kind, as it is stored. */
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
