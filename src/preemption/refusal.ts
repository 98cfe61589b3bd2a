import { formatCount } from '../k8s/quantity.ts';

/**
 * Why nothing is preempted for a gang or a Pod. A refusal is data, and one place turns it into a text for one audience,
 * since most of it is about other tenants' objects.
 */
export type Refusal =
  | {
      readonly why: 'PodsMissing';
      readonly group: string | undefined;
      readonly count: number;
      readonly given: number;
    }
  | NoNodeLargeEnough
  | { readonly why: 'NeverPreempts' }
  | { readonly why: 'RoomBeingMade'; readonly pod: ObjectName; readonly node: string }
  | { readonly why: 'NothingBelow'; readonly priority: number }
  | { readonly why: 'NothingMayGo'; readonly priority: number }
  | { readonly why: 'NoSetOfVictims' }
  | { readonly why: 'TopologyUnserved' }
  | PodUnlikeGroup
  | { readonly why: 'EvictsInVain'; readonly pods: number; readonly clash: string }
  | { readonly why: 'BudgetOverdrawn'; readonly budget: ObjectName | undefined }
  | { readonly why: 'Unreadable'; readonly object: ObjectName; readonly words: string }
  | { readonly why: 'PreemptsByItself'; readonly pod: ObjectName }
  | { readonly why: 'TooManyVictims'; readonly pods: number; readonly most: number }
  | { readonly why: 'TooManyPlans' }
  | {
      readonly why: 'EvictionRefused';
      readonly pod: ObjectName;
      readonly status: number;
      readonly words: string;
    };

/** A Pod's priority or preemption policy differs from its group's. */
export interface PodUnlikeGroup {
  readonly why: 'PodUnlikeGroup';
  readonly pod: ObjectName;
  readonly field: 'priority' | 'preemptionPolicy';
  readonly has: string;
  /** The group's value. */
  readonly group: string;
}

/** A Pod asks for more of a resource than any node that it may use has. */
export interface NoNodeLargeEnough {
  readonly why: 'NoNodeLargeEnough';
  /** The Pod's group; `''` where it has none. */
  readonly group: string;
  readonly resource: string;
  readonly asked: number;
  readonly largest: { readonly node: string; readonly has: number };
}

/** The refusal as a clause that follows "it does not fit, and". */
export const refusalText = (refusal: Refusal, audience: Audience): string =>
  // The type checker does not see that the text and the refusal have the same `why`.
  (TEXTS[refusal.why] as (refusal: Refusal, audience: Audience) => string)(refusal, audience);

type Texts = {
  readonly [W in Refusal['why']]: (refusal: Extract<Refusal, { why: W }>, audience: Audience) => string;
};

const TEXTS: Texts = {
  PodsMissing: ({ group, count, given }) =>
    `of ${count} Pods that ${group === undefined ? 'it' : `group ${group}`} still needs ${given} wait for a node`,
  NoNodeLargeEnough: ({ group, resource, asked, largest }, audience) => {
    const owner = group === '' ? '' : ` of group ${group}`;
    const text = `no node is large enough for a Pod${owner} that asks for ${formatCount(resource, asked)} ${resource}`;
    if (audience !== 'operator') return text;
    return largest.has === 0
      ? `${text}: none that it may use has any`
      : `${text}: the largest that it may use, ${largest.node}, has ${formatCount(resource, largest.has)}`;
  },
  NeverPreempts: () => 'its preemption policy is Never',
  RoomBeingMade: ({ pod, node }, audience) =>
    mayName(audience, pod)
      ? `room is being made for ${pod.namespace}/${pod.name}${audience === 'operator' ? ` on ${node}` : ''}`
      : 'room is being made for it',
  NothingBelow: ({ priority }) => `nothing that runs has a priority below ${priority}`,
  NothingMayGo: ({ priority }) => `nothing that runs below priority ${priority} may be touched`,
  NoSetOfVictims: () => 'no set of victims makes room for it',
  TopologyUnserved: () => 'kube-scheduler 1.36 preempts for no gang with a topology constraint',
  PodUnlikeGroup: ({ pod, field, has, group }, audience) =>
    `kube-scheduler 1.37 tries no group of which a Pod differs: ${nameFor(audience, 'Pod', pod)} has ${field} ${has}, the group ${group}; give both the same PriorityClass`,
  EvictsInVain: ({ pods, clash }, audience) =>
    `kube-scheduler 1.37 would evict ${pods === 1 ? '1 Pod' : `${pods} Pods`} in vain${audience === 'operator' ? `: ${clash}` : ''}`,
  BudgetOverdrawn: ({ budget }, audience) => {
    const kind = 'PodDisruptionBudget';
    const name = budget === undefined ? `a ${kind}` : nameFor(audience, kind, budget);
    return `it would fit only if ${name} were overdrawn`;
  },
  Unreadable: ({ object, words }, audience) =>
    mayName(audience, object)
      ? words
      : `an object${otherNamespaceFor(audience)} says what cannot be counted with`,
  PreemptsByItself: ({ pod }, audience) =>
    `${nameFor(audience, 'Pod', pod)} preempts by itself: give it a PriorityClass with preemptionPolicy: Never, and that class the annotation muster.dev/preemption-policy: PreemptLowerPriority`,
  TooManyVictims: ({ pods, most }) =>
    `${pods} Pods would have to go, more than preemption.limits.victimsPerPlan (${most})`,
  TooManyPlans: () => 'as many plans were begun within a minute as preemption.limits.plansPerMinute',
  EvictionRefused: ({ pod, status, words }, audience) =>
    mayName(audience, pod)
      ? `a victim may not be evicted: ${words}`
      : `a victim may not be evicted: it is${otherNamespaceFor(audience) || ' not named here'}, and the API server answered ${status}`,
};

/**
 * Who reads a text about other tenants' objects. An operator of the cluster may read every name, the owner of a gang the
 * names in the gang's namespace, and an unknown reader none.
 */
export type Audience = 'operator' | 'anybody' | { readonly namespace: string };

/** An object that a text names. */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

export const mayName = (audience: Audience, { namespace }: Pick<ObjectName, 'namespace'>): boolean =>
  audience === 'operator' || (audience !== 'anybody' && audience.namespace === namespace);

/** The object's name where the audience may read it (`Pod ml/web`), else `a Pod of another namespace`. */
export function nameFor(audience: Audience, kind: string, object: ObjectName): string {
  if (mayName(audience, object)) return `${kind} ${object.namespace}/${object.name}`;
  return `a ${kind}${otherNamespaceFor(audience)}`;
}

/** The words after an object that is not named. They are empty for an unknown reader, whose namespace is not known. */
export const otherNamespaceFor = (audience: Audience): string =>
  audience === 'anybody' ? '' : ' of another namespace';
