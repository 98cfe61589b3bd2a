import { isObject, own, ownList, ownString, type Json, type JsonObject } from '../json/json.ts';
import { formatCount } from '../k8s/quantity.ts';
import { bytes, integer, integerIn, message, text, type Field } from './wire.ts';

/** A request to a karmada-scheduler-estimator: the free capacity of its cluster, by its nodes and quotas. */
export interface EstimateRequest {
  readonly cluster: string;
  /** Whether to count replicas of a single template, or sets of all templates with their replicas. */
  readonly unit: 'replicas' | 'sets';
  /** Empty: any Pod. */
  readonly templates: readonly EstimateComponent[];
}

export interface EstimateComponent {
  readonly name: string;
  readonly replicas: number;
  /** `cpu` in thousandths, other resources in whole units. */
  readonly requests: ReadonlyMap<string, number>;
  readonly needs?: { readonly nodeClaim?: JsonObject; readonly priorityClassName?: string };
}

const SERVICE = '/github.com.karmada_io.karmada.pkg.estimator.service.Estimator/';

/** gRPC methods by unit. */
export const methods = {
  replicas: `${SERVICE}MaxAvailableReplicas`,
  sets: `${SERVICE}MaxAvailableComponentSets`,
} as const;

/** @param namespace of the workload; its quotas count */
export function encodeEstimateRequest(
  { cluster, unit, templates }: EstimateRequest,
  namespace: string,
): Buffer {
  if (unit === 'sets')
    return message(
      text(1, cluster),
      templates.map((one) => bytes(2, componentOf(one))),
      text(3, namespace),
    );
  const [only] = templates;
  return message(text(1, cluster), only === undefined ? [] : bytes(2, requirementsOf(only, namespace)));
}

/** Decodes the answer of both methods, which is in its only field. Negative: the estimator does not know. */
export const decodeAnswer = (encoded: Buffer): number => integerIn(encoded, 1);

const componentOf = (template: EstimateComponent): Buffer => {
  const { requests, needs = {} } = template;
  return message(
    text(1, template.name),
    bytes(2, message(claimOf(template), text(3, needs.priorityClassName ?? ''), amounts([2, 4], requests))),
    integer(3, template.replicas),
  );
};

const requirementsOf = (template: EstimateComponent, namespace: string): Buffer =>
  message(
    claimOf(template),
    text(3, namespace),
    text(4, template.needs?.priorityClassName ?? ''),
    amounts([2, 5], template.requests),
  );

/**
 * Until Karmada 1.17 these fields held messages of Kubernetes; since then, bytes with the same content under another
 * field number. Both are sent, since each version ignores the unknown one.
 */
const inBoth = (numbers: readonly [until: number, since: number], value: Buffer): readonly Field[] =>
  numbers.map((number) => bytes(number, value));

/** A map from resource names to `resource.Quantity`. */
const amounts = (
  numbers: readonly [number, number],
  requests: EstimateComponent['requests'],
): readonly Field[] =>
  [...requests].flatMap(([name, count]) =>
    inBoth(numbers, message(text(1, name), bytes(2, message(text(1, formatCount(name, count)))))),
  );

/** Node selector, node affinity and tolerations of a template. */
function claimOf({ needs }: EstimateComponent): readonly Field[] {
  const claim = needs?.nodeClaim;
  if (claim === undefined) return [];
  const affinity = own(claim, 'hardNodeAffinity');
  return [
    bytes(
      1,
      message(
        strings(own(claim, 'nodeSelector')).map(([key, value]) =>
          bytes(2, message(text(1, key), text(2, value))),
        ),
        isObject(affinity) ? inBoth([1, 4], message(terms(affinity))) : [],
        (ownList(claim, 'tolerations') ?? []).flatMap((one) => inBoth([3, 5], toleration(one))),
      ),
    ),
  ];
}

const terms = (affinity: JsonObject): readonly Field[] =>
  (ownList(affinity, 'nodeSelectorTerms') ?? []).map((term) =>
    bytes(
      1,
      message(requirements(1, own(term, 'matchExpressions')), requirements(2, own(term, 'matchFields'))),
    ),
  );

const requirements = (number: number, list: Json | undefined): readonly Field[] =>
  (Array.isArray(list) ? list : []).map((one: Json) =>
    bytes(
      number,
      message(
        text(1, ownString(one, 'key') ?? ''),
        text(2, ownString(one, 'operator') ?? ''),
        (ownList(one, 'values') ?? []).flatMap((value) =>
          typeof value === 'string' ? [bytes(3, Buffer.from(value))] : [],
        ),
      ),
    ),
  );

function toleration(one: Json): Buffer {
  const [key = '', operator = '', value = '', effect = ''] = ['key', 'operator', 'value', 'effect'].map(
    (name) => ownString(one, name),
  );
  const seconds = own(one, 'tolerationSeconds');
  return message(
    text(1, key),
    text(2, operator),
    text(3, value),
    text(4, effect),
    typeof seconds === 'number' && Number.isInteger(seconds) ? integer(5, seconds) : [],
  );
}

const strings = (value: Json | undefined): readonly (readonly [string, string])[] =>
  isObject(value)
    ? Object.entries(value).flatMap(([key, one]) => (typeof one === 'string' ? [[key, one] as const] : []))
    : [];
