import { raise, countOfText } from '../k8s/quantity.ts';
import type { Component } from '../workloads/components.ts';
import { requestText, type Requirements } from '../workloads/pod-requirements.ts';

/** A workload as one template: all of its Pods, and the largest requirements of any Pod. */
export interface TotalReplicas {
  readonly replicas: number;
  readonly requirements: Requirements | undefined;
}

/**
 * For callers that count one template only. Of several templates each amount is the largest, so a cluster that has capacity
 * for the result has capacity for the workload; node requirements are included only when all templates agree.
 */
export function totalReplicas(components: readonly Component[]): TotalReplicas {
  const used = components.filter(({ replicas }) => replicas > 0);
  const replicas = used.reduce((sum, one) => sum + one.replicas, 0);
  const [first] = used.length === 0 ? components : used;
  const most = new Map<string, number>();
  for (const { requirements } of used) raise(most, counted(requirements));
  const same = (key: 'nodeClaim' | 'priorityClassName'): boolean =>
    used.every(
      ({ requirements }) =>
        JSON.stringify(requirements?.[key]) === JSON.stringify(first?.requirements?.[key]),
    );
  const nodeClaim = same('nodeClaim') ? first?.requirements?.nodeClaim : undefined;
  const priorityClassName = same('priorityClassName') ? first?.requirements?.priorityClassName : undefined;
  const resourceRequest = used.length === 0 ? first?.requirements?.resourceRequest : requestText(most);
  const requirements: Requirements = {
    ...(nodeClaim && { nodeClaim }),
    ...(resourceRequest && Object.keys(resourceRequest).length > 0 && { resourceRequest }),
    ...(priorityClassName !== undefined && { priorityClassName }),
  };
  return { replicas, requirements: Object.keys(requirements).length > 0 ? requirements : undefined };
}

const counted = (requirements: Requirements | undefined): Map<string, number> =>
  new Map(
    Object.entries(requirements?.resourceRequest ?? {}).map(([name, text]) => [
      name,
      countOfText(name, text) ?? 0,
    ]),
  );
