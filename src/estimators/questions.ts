import { isObject, own, ownList, ownString, type Json, type JsonObject } from '../json/json.ts';
import { formatCount } from '../k8s/quantity.ts';
import { bytes, integer, integerIn, message, text, type Field } from './wire.ts';

/** What a karmada-scheduler-estimator can be asked: the room in its cluster, as its nodes and quotas have it. */
export interface EstimateRequest {
  readonly cluster: string;
  /** How many replicas of the one template fit, or how many times all templates with their replicas. */
  readonly unit: 'replicas' | 'sets';
  /** Without one any Pod is meant. */
  readonly templates: readonly EstimateComponent[];
}

export interface EstimateComponent {
  readonly name: string;
  readonly replicas: number;
  /** Thousandths of `cpu`, whole units of all else. */
  readonly requests: ReadonlyMap<string, number>;
  readonly needs?: { readonly nodeClaim?: JsonObject; readonly priorityClassName?: string };
}

const SERVICE = '/github.com.karmada_io.karmada.pkg.estimator.service.Estimator/';

/** How a question is asked. */
export const methods = {
  replicas: `${SERVICE}MaxAvailableReplicas`,
  sets: `${SERVICE}MaxAvailableComponentSets`,
} as const;

/** @param namespace of the workload, whose quotas count */
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

/** What both answers say, each in its only field. A negative number: the estimator does not know. */
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
 * What Karmada took for messages of Kubernetes until 1.17 has become bytes that hold the same, under a number of its own.
 * Both are sent: each side passes over what it does not know.
 */
const inBoth = (numbers: readonly [until: number, since: number], value: Buffer): readonly Field[] =>
  numbers.map((number) => bytes(number, value));

/** By the name of a resource a `resource.Quantity`. */
const amounts = (
  numbers: readonly [number, number],
  requests: EstimateComponent['requests'],
): readonly Field[] =>
  [...requests].flatMap(([name, count]) =>
    inBoth(numbers, message(text(1, name), bytes(2, message(text(1, formatCount(name, count)))))),
  );

/** Selector, affinity and tolerations of nodes. */
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
