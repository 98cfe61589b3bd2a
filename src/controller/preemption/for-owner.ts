/**
 * What the owner of a gang may read of why no room is made for it: what is in other namespaces has no name there, as in a
 * forecast.
 */
export const forOwner = (text: string, namespace: string): string =>
  text.replace(NAMED, (all, what: string, of: string) =>
    of === namespace ? all : `${what} of another namespace`,
  );

/** A budget in the planner's words, a victim in those of the client. */
const NAMED = /(PodDisruptionBudget|pods\/eviction) ([^\s/:]+)\/[^\s:]+/g;
