import { defaultClass, type PriorityClass, type PriorityClasses } from '../../src/api/priority-class.ts';

const priorityClass = (name: string, value: number, parts: Partial<PriorityClass> = {}): PriorityClass => ({
  ...{ name, value, globalDefault: false, preempts: true, ...parts },
});

/** `low`, `high`, `polite` (which preempts nobody), and those of every cluster; with a default where it is named. */
export function priorityClasses(byDefault?: string): PriorityClasses {
  const all = [
    priorityClass('low', 10),
    priorityClass('high', 1000),
    priorityClass('polite', 1000, { preempts: false }),
    // Its Pods preempt nobody, its gangs do.
    priorityClass('together', 1000, { preempts: false, ofGangs: 'PreemptLowerPriority' }),
    priorityClass('lower', 5),
    // What gangs of low, and of every class, may cost.
    priorityClass('guard', 500, { standsFor: ['other', 'low'] }),
    priorityClass('shield', 500, { standsFor: ['*'] }),
    priorityClass('system-cluster-critical', 2_000_000_000),
  ].map((one) => ({ ...one, globalDefault: one.name === byDefault }));
  return {
    known: true,
    get: (name) => all.find((one) => one.name === name),
    values: () => all,
    byDefault: defaultClass(all),
  };
}

/** Of an account that may not list them. */
export const NO_CLASSES: PriorityClasses = {
  known: false,
  get: () => undefined,
  values: () => [],
  byDefault: undefined,
};
