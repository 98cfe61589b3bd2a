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

/** Where a Pod may be, of its spec. */
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

/** A NodeSelectorTerm. */
export const nodeSelectorTermOf = (term: Json): NodeSelectorTerm => ({
  labels: listOf(term, 'matchExpressions').map(requirement),
  fields: listOf(term, 'matchFields').map(requirement),
});

const requirement = (one: Json): NodeSelectorRequirement => ({
  key: ownString(one, 'key') ?? '',
  operator: ownString(one, 'operator') ?? '',
  values: stringsOf(own(one, 'values')),
});

/** On the host's network a container's port is the host's as well, as the API server fills in. */
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
 * `matchLabelKeys` and `mismatchLabelKeys` of a term, as the API server merges them into its selector at the Pod's creation.
 * What it has merged stays, whatever the labels are by now; a term without a selector takes nothing with them either.
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
  // Others only move a score, and kube-scheduler's scores for spreading are not followed here.
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

/** The Pod's own values of these labels are asked for as well, or must not be there. */
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
