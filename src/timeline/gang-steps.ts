import type { Known, DatedStep } from './step.ts';

/** The steps of the gang itself, once in its life. */
export function gangSteps({ created, objects, initialized, referenced, generations }: Known): DatedStep[] {
  const ofGang = { generation: 1, pods: [] } as const;
  // The references are written again with later generations, and managedFields has the last time only.
  const isFirst = initialized !== undefined && referenced !== undefined && referenced <= initialized;
  const last = generations.at(-1)?.number ?? 1;
  const made = Map.groupBy(objects, ({ at }) => at);
  return [
    ...(created === undefined ? [] : [{ ...ofGang, at: created, step: 'created' as const, waitedFor: '' }]),
    ...[...made].map(([at, at_once]) => ({
      // An object that is younger than Initialized was made again for a later generation.
      generation: initialized !== undefined && at > initialized ? last : 1,
      pods: [],
      at,
      step: 'objects' as const,
      waitedFor: "the scheduler's objects",
      says: at_once
        .map(({ title }) => title)
        .sort()
        .join(', '),
    })),
    ...(isFirst
      ? [{ ...ofGang, at: referenced, step: 'referenced' as const, waitedFor: 'the references to its Pods' }]
      : []),
    ...(initialized === undefined
      ? []
      : [
          {
            ...ofGang,
            at: initialized,
            step: 'initialized' as const,
            waitedFor: "the references, and the scheduler's objects",
          },
        ]),
  ];
}
