import { isObject, own, ownList, ownString, type Json } from '../../json/json.ts';
import { EVERYTHING, type LabelSelector } from '../../k8s/label-selector.ts';
import { tolerationOf } from '../../k8s/taints.ts';
import type {
  Constraints,
  HostPort,
  Labels,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinityTerm,
  TopologySpreadConstraint,
} from '../snapshot.ts';
import { labelsOf, stringsOf, type FieldReader } from '../../k8s/field-reader.ts';

/** Reads from a Pod's spec which nodes the Pod may run on. */
export function podConstraints(
  spec: Json | undefined,
  pod: {
    readonly namespace: string;
    readonly labels: Labels;
    readonly volumeNodes: readonly (readonly NodeSelectorTerm[])[];
  },
  reading: FieldReader,
): Constraints {
  const affinity = own(spec, 'affinity');
  const nodes = own(affinity, 'nodeAffinity');
  const required = own(nodes, 'requiredDuringSchedulingIgnoredDuringExecution');
  const terms = (kind: string): PodAffinityTerm[] =>
    listOf(own(affinity, kind), 'requiredDuringSchedulingIgnoredDuringExecution').map((term, index) =>
      podTerm(term, `spec.affinity.${kind}[${index}]`, pod, reading),
    );
  return {
    nodeSelector: labelsOf(own(spec, 'nodeSelector')),
    requiredNodes: isObject(required)
      ? listOf(required, 'nodeSelectorTerms').map(nodeSelectorTermOf)
      : undefined,
    preferredNodes: listOf(nodes, 'preferredDuringSchedulingIgnoredDuringExecution').map((one) => ({
      weight: reading.integer(own(one, 'weight'), 'spec.affinity.nodeAffinity.weight', 1),
      term: nodeSelectorTermOf(own(one, 'preference') ?? null),
    })),
    volumeNodes: pod.volumeNodes,
    tolerations: listOf(spec, 'tolerations').map(tolerationOf),
    ports: hostPorts(spec, reading),
    affinity: terms('podAffinity'),
    antiAffinity: terms('podAntiAffinity'),
    spread: listOf(spec, 'topologySpreadConstraints').flatMap((one, index) =>
      spreadConstraint(one, `spec.topologySpreadConstraints[${index}]`, pod.labels, reading),
    ),
  };
}

const listOf = (value: Json | undefined, key: string): readonly Json[] => ownList(value, key) ?? [];

/** Reads a NodeSelectorTerm. */
export const nodeSelectorTermOf = (term: Json): NodeSelectorTerm => ({
  labels: listOf(term, 'matchExpressions').map(requirement),
  fields: listOf(term, 'matchFields').map(requirement),
});

const requirement = (one: Json): NodeSelectorRequirement => ({
  key: ownString(one, 'key') ?? '',
  operator: ownString(one, 'operator') ?? '',
  values: stringsOf(own(one, 'values')),
});

/** The host ports of a Pod. With `hostNetwork` each container port is a host port as well, as the API server fills in. */
function hostPorts(spec: Json | undefined, reading: FieldReader): HostPort[] {
  const onHost = own(spec, 'hostNetwork') === true;
  return [...listOf(spec, 'containers'), ...listOf(spec, 'initContainers').filter(isSidecar)].flatMap(
    (container) =>
      listOf(container, 'ports').flatMap((one) => {
        const written = reading.integer(own(one, 'hostPort'), 'spec.containers.ports.hostPort', 0);
        const port =
          written === 0 && onHost
            ? reading.integer(own(one, 'containerPort'), 'spec.containers.ports.containerPort', 0)
            : written;
        if (port === 0) return [];
        return [
          { ip: ownString(one, 'hostIP') || '0.0.0.0', protocol: ownString(one, 'protocol') || 'TCP', port },
        ];
      }),
  );
}

const isSidecar = (container: Json): boolean => ownString(container, 'restartPolicy') === 'Always';

function podTerm(
  term: Json,
  field: string,
  { namespace, labels }: { readonly namespace: string; readonly labels: Labels },
  reading: FieldReader,
): PodAffinityTerm {
  const named = stringsOf(own(term, 'namespaces'));
  const namespaceSelector = reading.selector(own(term, 'namespaceSelector'), `${field}.namespaceSelector`);
  return {
    topologyKey: ownString(term, 'topologyKey') ?? '',
    selector: merged(reading.selector(own(term, 'labelSelector'), `${field}.labelSelector`), term, labels),
    namespaces: named.length === 0 && namespaceSelector === undefined ? [namespace] : named,
    namespaceSelector,
  };
}

/**
 * Merges `matchLabelKeys` and `mismatchLabelKeys` of a term into its selector, as the API server does when the Pod is
 * created. Keys that the API server has merged already stay as they are, even if the Pod's labels have changed since. A term
 * without a selector gets none, as in Kubernetes.
 */
function merged(selector: LabelSelector | undefined, term: Json, labels: Labels): LabelSelector | undefined {
  if (selector === undefined) return undefined;
  const missing = (field: string, operator: 'In' | 'NotIn'): readonly string[] =>
    stringsOf(own(term, field)).filter(
      (key) => !selector.matchExpressions.some((one) => one.key === key && one.operator === operator),
    );
  const matching = withOwnLabels(selector, missing('matchLabelKeys', 'In'), 'In', labels);
  return withOwnLabels(matching, missing('mismatchLabelKeys', 'NotIn'), 'NotIn', labels);
}

function spreadConstraint(
  one: Json,
  field: string,
  labels: Labels,
  reading: FieldReader,
): readonly TopologySpreadConstraint[] {
  // `ScheduleAnyway` only changes a score, and Muster does not reproduce kube-scheduler's scores for spreading.
  if (ownString(one, 'whenUnsatisfiable') !== 'DoNotSchedule') return [];
  const selector = reading.selector(own(one, 'labelSelector'), `${field}.labelSelector`);
  return [
    {
      topologyKey: ownString(one, 'topologyKey') ?? '',
      maxSkew: reading.integer(own(one, 'maxSkew'), `${field}.maxSkew`, 1),
      minDomains: reading.integer(own(one, 'minDomains'), `${field}.minDomains`, 1),
      selector: withOwnLabels(selector, stringsOf(own(one, 'matchLabelKeys')), 'In', labels),
      honoursAffinity: ownString(one, 'nodeAffinityPolicy') !== 'Ignore',
      honoursTaints: ownString(one, 'nodeTaintsPolicy') === 'Honor',
    },
  ];
}

/**
 * Adds to a selector that each of these labels must have (`In`), or must not have (`NotIn`), the value that the Pod itself
 * has.
 */
function withOwnLabels(
  selector: LabelSelector | undefined,
  keys: readonly string[],
  operator: 'In' | 'NotIn',
  labels: Labels,
): LabelSelector | undefined {
  if (keys.length === 0) return selector;
  const { matchLabels, matchExpressions } = selector ?? EVERYTHING;
  const more = keys.flatMap((key) => {
    const value = labels.get(key);
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
  return { matchLabels, matchExpressions: [...matchExpressions, ...more] };
}
