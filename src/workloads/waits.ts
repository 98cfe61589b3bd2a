import { own, ownList, ownString, type Json } from '../json/json.ts';
import { hasLabel, isPart, type AskingWorkload } from './asking-workload.ts';
import { placeIn } from './controlling.ts';
import { exclusiveTopologyOf } from './exclusive-topology.ts';
import { path, valueAt } from './path.ts';
import type { OneByOne } from './workload-kind.ts';

/** By the short names of kinds: fields that have some Pods of a gang made only once others of it are ready. */
const waits: Readonly<Record<string, (spec: Json | undefined) => readonly OneByOne[]>> = {
  jobset: (spec) => {
    const jobs = ownList(spec, 'replicatedJobs') ?? [];
    const templateOf = (job: Json): Json | undefined => own(own(own(job, 'template'), 'spec'), 'template');
    const member = (job: Json): boolean => hasLabel(templateOf(job)) && !isPart(templateOf(job));
    if (jobs.filter(member).length < 2) return [];
    const inOrder = ownString(own(spec, 'startupPolicy'), 'startupPolicyOrder') === 'InOrder';
    const names = new Set(jobs.filter(member).map((job) => ownString(job, 'name')));
    return [
      ...(inOrder ? [{ field: 'spec.startupPolicy.startupPolicyOrder', instead: 'AnyOrder' }] : []),
      ...jobs.flatMap((job, index) => {
        const on = (ownList(job, 'dependsOn') ?? []).map((one) => ownString(one, 'name'));
        return member(job) && on.some((name) => names.has(name))
          ? [{ field: `spec.replicatedJobs[${index}].dependsOn`, instead: '' }]
          : [];
      }),
    ];
  },
  // Its workers are gated until the launcher is there.
  mpijob: (spec) => {
    const launcher = own(own(own(spec, 'mpiReplicaSpecs'), 'Launcher'), 'template');
    // One that is no member waits for a gang of workers that somebody wrote.
    return hasLabel(launcher) && ownString(spec, 'launcherCreationPolicy') === 'WaitForWorkersReady'
      ? [{ field: 'spec.launcherCreationPolicy', instead: 'AtStartup' }]
      : [];
  },
  vcjob: (spec) => {
    const tasks = ownList(spec, 'tasks') ?? [];
    const member = (task: Json): boolean => hasLabel(own(task, 'template'));
    const names = new Set<Json | undefined>(tasks.filter(member).map((task) => ownString(task, 'name')));
    return tasks.flatMap((task, index) => {
      const on = ownList(own(task, 'dependsOn'), 'name') ?? [];
      return member(task) && on.some((name) => names.has(name))
        ? [{ field: `spec.tasks[${index}].dependsOn`, instead: '' }]
        : [];
    });
  },
};

/** A field by which some Pods of a gang wait for others of it, and what to do about it. */
export interface Wait {
  readonly field: string;
  readonly value: Json | undefined;
  readonly advice: string;
}

/** What of a workload waits for Pods that are gated until it is there as well. */
export function waitsOf({ by, templates }: AskingWorkload): readonly Wait[] {
  if (by === undefined) return [];
  const ordered = templates.flatMap(({ oneByOne }) => oneByOne ?? []);
  const others = waits[by.kind.short]?.(own(by.workload, 'spec')) ?? [];
  const fields = [...new Map([...ordered, ...others].map((one) => [one.field, one])).values()];
  return [
    ...fields.map(({ field, instead }): Wait => {
      const key = field.slice(field.lastIndexOf('.') + 1);
      const advice = instead === '' ? `leave ${key} out` : `write ${key}: ${instead}`;
      return { field: placeIn(by, field), value: valueAt(by.workload, path(field)), advice };
    }),
    ...exclusiveTopologyOf(by.kind.short, by.workload).map((one) => ({
      ...one,
      field: placeIn(by, one.field),
      advice: 'leave it out, and say the topology in a PodGang that you write',
    })),
  ];
}
