import { isWorkload, type Binding } from './binding.ts';
import { isForOneCluster } from './default-strategy.ts';
import { replicasThatFit, setsThatFit } from './estimate.ts';
import { leastOf, templatesOf } from './gang-strategies.ts';
import type { Member } from './member.ts';
import type { Assigner } from './plugin.ts';

/** How many replicas, or sets of all templates, the cluster has room for, counted as the plugin has it. */
export function roomIn(binding: Binding, member: Member, { room }: Assigner): number {
  if (!isWorkload(binding)) return 0;
  if (room === undefined)
    return isForOneCluster(binding)
      ? setsThatFit(member, binding.components, 'none')
      : replicasThatFit(member, binding.requests, 'none');
  const templates = templatesOf(binding);
  const [only, ...others] = templates;
  if (only !== undefined && others.length === 0)
    return replicasThatFit(member, only.requests, room.unmodelled);
  const least = templates.map((one) => ({ ...one, replicas: leastOf(binding, one) }));
  return setsThatFit(member, least, room.unmodelled);
}
