import { own, ownList, ownString, type Json } from '../../json/json.ts';
import { stringsOf } from '../../k8s/reading.ts';
import type { Scope, Topology } from '../snapshot.ts';

/** What the spec of a PodGang says of where Pods are to be together; undefined where it says nothing. */
export function readTopology(spec: Json | undefined): Topology | undefined {
  const scopes = [
    { groups: undefined, constrained: spec },
    ...(ownList(spec, 'topologyConstraintGroupConfigs') ?? []).flatMap((config) => {
      const groups = stringsOf(own(config, 'podGroupNames'));
      return groups.length === 0 ? [] : [{ groups, constrained: config }];
    }),
    ...(ownList(spec, 'podgroups') ?? []).map((group) => ({
      groups: [ownString(group, 'name') ?? ''],
      constrained: group,
    })),
  ];
  const all = (field: 'required' | 'preferred'): Scope[] =>
    scopes.flatMap(({ groups, constrained }) => {
      const key = ownString(own(own(constrained, 'topologyConstraint'), 'packConstraint'), field);
      return key ? [{ groups, key }] : [];
    });
  const [required, preferred] = [all('required'), all('preferred')];
  return required.length + preferred.length === 0 ? undefined : { required, preferred };
}
