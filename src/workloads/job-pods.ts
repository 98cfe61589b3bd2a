import { ANNOTATION_HPC_POLICY, LABEL_GANG } from '../api/names.ts';
import { own, type Json } from '../json/json.ts';
import type { FieldWarning } from './kind.ts';
import type { Path } from './path.ts';
import type { WorkloadReading } from './workload-reading.ts';

/** A Job's Pods: its parallelism, limited to the remaining completions. @param spec path of the Job's spec */
export const jobPods = (reading: WorkloadReading, spec: Path): number => {
  const parallelism = reading.count([...spec, 'parallelism'], 1);
  return Math.min(parallelism, reading.count([...spec, 'completions'], parallelism));
};

/** Lua version of {@link jobPods}. */
export const JOB_PODS_LUA = `
local function jobPods(root, spec)
  local parallelism = count(root, joined(spec, { "parallelism" }), 1)
  return math.min(parallelism, count(root, joined(spec, { "completions" }), parallelism))
end
`;

/** Warnings about fields of a Job's `spec` with another effect than expected. @param place path of the spec */
export function jobWarnings(spec: Json | undefined, place: string): FieldWarning[] {
  const unheard = (field: string): FieldWarning => ({
    field: `${place}.${field}`,
    message: `its Pods are the gang that ${LABEL_GANG} makes of them, whatever is said here: leave out one of the two`,
  });
  const [most, all] = [own(spec, 'parallelism'), own(spec, 'completions')];
  const named = own(own(own(own(spec, 'template'), 'metadata'), 'annotations'), ANNOTATION_HPC_POLICY);
  return [
    // A Job creates no more Pods than it has completions left.
    ...(typeof most === 'number' && typeof all === 'number' && most > all
      ? [
          {
            field: `${place}.parallelism`,
            message: `${most} is above completions: no more than ${all} Pods of it are ever made, and as many are its gang`,
          },
        ]
      : []),
    ...(typeof most === 'number' && typeof all === 'number' && most < all && named !== undefined
      ? [
          {
            field: `${place}.completions`,
            message: `${all} is above parallelism: Pods from number ${most} on are refused, as ${ANNOTATION_HPC_POLICY} is for programs that run on all Pods at once`,
          },
        ]
      : []),
    // Kubernetes' PodGroup: the Job's own (WorkloadWithJob), or the one that its template names.
    ...(own(spec, 'scheduling') === undefined ? [] : [unheard('scheduling')]),
    ...(own(own(own(spec, 'template'), 'spec'), 'schedulingGroup') === undefined
      ? []
      : [unheard('template.spec.schedulingGroup')]),
  ];
}
