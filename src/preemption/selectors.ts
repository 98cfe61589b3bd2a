import { holds, takesEverything, type LabelSelector } from '../k8s/label-selector.ts';
import type {
  Labels,
  Node,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  Pod,
  PodAffinityTerm,
} from './snapshot.ts';

/** Whether `selector` selects `labels`; no selector selects nothing. */
export function selects(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (selector === undefined) return false;
  for (const key in selector.matchLabels) {
    if (labels.get(key) !== selector.matchLabels[key]) return false;
  }
  return allHold(selector, labels);
}

/** Returns {@link selects} for one selector and many labels; the selector is prepared once. */
export function matcherOf(selector: LabelSelector): (labels: Labels) => boolean {
  const wanted = Object.entries(selector.matchLabels);
  return (labels) => {
    for (const [key, value] of wanted) if (labels.get(key) !== value) return false;
    return allHold(selector, labels);
  };
}

const allHold = ({ matchExpressions }: LabelSelector, labels: Labels): boolean =>
  matchExpressions.every(({ key, operator, values }) => holds(operator, labels.get(key), values));

/** Whether a Pod's affinity term selects `other`. */
export function termTakes(
  term: PodAffinityTerm,
  other: Pick<Pod, 'namespace' | 'labels'>,
  namespaces: ReadonlyMap<string, Labels>,
): boolean {
  const { namespaceSelector } = term;
  const inside =
    term.namespaces.includes(other.namespace) ||
    (namespaceSelector !== undefined &&
      (takesEverything(namespaceSelector) ||
        selects(namespaceSelector, namespaces.get(other.namespace) ?? NOTHING)));
  return inside && selects(term.selector, other.labels);
}

const NOTHING: Labels = new Map();

/** Whether one of the terms matches the node. */
export const someTermHolds = (terms: readonly NodeSelectorTerm[], node: Node): boolean =>
  terms.some((term) => nodeSelectorTermHolds(term, node));

export function nodeSelectorTermHolds({ labels, fields }: NodeSelectorTerm, node: Node): boolean {
  if (labels.length + fields.length === 0) return false;
  return (
    labels.every((one) => requirementHolds(one, node.labels.get(one.key))) &&
    fields.every((one) => one.key === 'metadata.name' && requirementHolds(one, node.name))
  );
}

const INTEGER = /^[+-]?\d+$/;

function requirementHolds({ operator, values }: NodeSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
    case 'NotIn':
    case 'Exists':
    case 'DoesNotExist':
      return holds(operator, value, values);
    case 'Gt':
    case 'Lt': {
      const [limit = ''] = values;
      if (value === undefined || !INTEGER.test(value) || !INTEGER.test(limit)) return false;
      return operator === 'Gt' ? BigInt(value) > BigInt(limit) : BigInt(value) < BigInt(limit);
    }
    default:
      return false;
  }
}
