import { own, ownString, type JsonObject } from '../../json/json.ts';
import { POD_GANG_KIND } from '../../api/names.ts';
import { outcomeOf, type PlanOutcome } from '../../preemption/outcome.ts';
import { planWithinBudgets } from '../../preemption/plan-within-budgets.ts';
import type { Variant } from '../../preemption/variants.ts';
import { wantedOf } from './wanted.ts';

/** Whether an object of a snapshot is this PodGang. */
export function isThisGang(
  object: JsonObject,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): boolean {
  const metadata = own(object, 'metadata');
  const isIt = own(object, 'kind') === POD_GANG_KIND && ownString(metadata, 'name') === name;
  return isIt && ownString(metadata, 'namespace') === namespace;
}

/**
 * The plan that `muster plan` makes for a PodGang of the cluster and its Pods without a node.
 * @param cluster the objects of a snapshot
 * @throws MusterError INPUT_UNREADABLE where no Pod of it waits for a node, SNAPSHOT_INVALID
 */
export function planOfGang(
  cluster: readonly JsonObject[],
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { variant, exemptNamespaces }: { readonly variant: Variant; readonly exemptNamespaces: readonly string[] },
): { readonly outcome: PlanOutcome; readonly warnings: readonly string[] } {
  const wanted = cluster.filter((object) => isThisGang(object, { namespace, name }));
  const given = { wanted, cluster, namespace, priorityClass: undefined, exemptNamespaces } as const;
  const { preemptor, snapshot, mayGo, warnings } = wantedOf({ ...given, variant });
  const plan = planWithinBudgets({ preemptor, snapshot, variant, mayGo });
  return { outcome: outcomeOf(preemptor, plan, snapshot), warnings };
}
