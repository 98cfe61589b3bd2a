import { formatCount } from '../k8s/quantity.ts';

/**
 * Why no room is made for a gang or a Pod. Data, which is made into words in one place and for one reader: most of it is about
 * objects of others.
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

/** A Pod says something else than its group does. */
export interface PodUnlikeGroup {
  readonly why: 'PodUnlikeGroup';
  readonly pod: ObjectName;
  readonly field: 'priority' | 'preemptionPolicy';
  readonly has: string;
  /** What the group has. */
  readonly group: string;
}

/** A Pod asks for more of a resource than any node has that it may use. */
export interface NoNodeLargeEnough {
  readonly why: 'NoNodeLargeEnough';
  /** Of the Pod; `''` without. */
  readonly group: string;
  readonly resource: string;
  readonly asked: number;
  readonly largest: { readonly node: string; readonly has: number };
}

/** As a clause that follows "it does not fit, and". */
export function refusalText(refusal: Refusal, reader: Audience): string {
  switch (refusal.why) {
    case 'PodsMissing': {
      const whose = refusal.group === undefined ? 'it' : `group ${refusal.group}`;
      return `of ${refusal.count} Pods that ${whose} still needs ${refusal.given} wait for a node`;
    }
    case 'NoNodeLargeEnough': {
      const { group, resource, asked, largest } = refusal;
      const whose = group === '' ? '' : ` of group ${group}`;
      const text = `no node is large enough for a Pod${whose} that asks for ${formatCount(resource, asked)} ${resource}`;
      if (reader !== 'operator') return text;
      return largest.has === 0
        ? `${text}: none that it may use has any`
        : `${text}: the largest that it may use, ${largest.node}, has ${formatCount(resource, largest.has)}`;
    }
    case 'NeverPreempts':
      return 'its preemption policy is Never';
    case 'RoomBeingMade':
      return mayName(reader, refusal.pod)
        ? `room is being made for ${refusal.pod.namespace}/${refusal.pod.name}${reader === 'operator' ? ` on ${refusal.node}` : ''}`
        : 'room is being made for it';
    case 'NothingBelow':
      return `nothing that runs has a priority below ${refusal.priority}`;
    case 'NothingMayGo':
      return `nothing that runs below priority ${refusal.priority} may be touched`;
    case 'NoSetOfVictims':
      return 'no set of victims makes room for it';
    case 'TopologyUnserved':
      return 'kube-scheduler 1.36 preempts for no gang with a topology constraint';
    case 'PodUnlikeGroup': {
      const { pod, field, has, group } = refusal;
      return `kube-scheduler 1.37 tries no group of which a Pod differs: ${nameFor(reader, 'Pod', pod)} has ${field} ${has}, the group ${group}; give both the same PriorityClass`;
    }
    case 'EvictsInVain': {
      const { pods, clash } = refusal;
      const what = pods === 1 ? '1 Pod' : `${pods} Pods`;
      return `kube-scheduler 1.37 would evict ${what} in vain${reader === 'operator' ? `: ${clash}` : ''}`;
    }
    case 'BudgetOverdrawn': {
      const { budget } = refusal;
      const what = 'PodDisruptionBudget';
      const called = budget === undefined ? `a ${what}` : nameFor(reader, what, budget);
      return `it would fit only if ${called} were overdrawn`;
    }
    case 'Unreadable':
      return mayName(reader, refusal.object)
        ? refusal.words
        : `an object${otherNamespaceFor(reader)} says what cannot be counted with`;
    case 'PreemptsByItself':
      return `${nameFor(reader, 'Pod', refusal.pod)} preempts by itself: give it a PriorityClass with preemptionPolicy: Never, and that class the annotation muster.dev/preemption-policy: PreemptLowerPriority`;
    case 'TooManyVictims':
      return `${refusal.pods} Pods would have to go, more than preemption.limits.victimsPerPlan (${refusal.most})`;
    case 'TooManyPlans':
      return 'as many plans were begun within a minute as preemption.limits.plansPerMinute';
    case 'EvictionRefused': {
      const called = mayName(reader, refusal.pod)
        ? `: ${refusal.words}`
        : `: it is${otherNamespaceFor(reader) || ' not named here'}, and the API server answered ${refusal.status}`;
      return `a victim may not be evicted${called}`;
    }
  }
}

/**
 * Who reads a text about other people's objects, and so what it may name: whoever runs the cluster, all; the owner of a gang,
 * what is in its namespace; nobody knows who, nothing.
 */
export type Audience = 'operator' | 'anybody' | { readonly namespace: string };

/** An object as a text calls it. */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

export const mayName = (reader: Audience, { namespace }: Pick<ObjectName, 'namespace'>): boolean =>
  reader === 'operator' || (reader !== 'anybody' && reader.namespace === namespace);

/** `Pod ml/web`, or what stands for it. */
export function nameFor(reader: Audience, what: string, object: ObjectName): string {
  if (mayName(reader, object)) return `${what} ${object.namespace}/${object.name}`;
  return `a ${what}${otherNamespaceFor(reader)}`;
}

/** Behind what is not named: that it is somebody else's, where it is known whose the reader's own is. */
export const otherNamespaceFor = (reader: Audience): string =>
  reader === 'anybody' ? '' : ' of another namespace';
