import { add, containerSum } from '../../k8s/quantity.ts';
import { own, type Json } from '../../json/json.ts';
import type { Resources } from '../snapshot.ts';
import type { FieldReader } from '../../k8s/field-reader.ts';

/**
 * What scores count for a container that requests nothing: `DefaultMilliCPURequest` and `DefaultMemoryRequest` of
 * kube-scheduler.
 */
const SCORED_CPU = 100;
const SCORED_MEMORY = 200 * 1024 * 1024;

export interface PodRequests {
  readonly requests: Resources;
  readonly scored: { readonly cpu: number; readonly memory: number };
}

/**
 * Counts what a Pod requests from its node, as kube-scheduler does: the sum of the containers and sidecars, or the need of
 * an init container with the sidecars started before it where that is more; requests of the Pod itself replace that sum; the
 * overhead of the runtime is added. A limit counts where there is no request, as the API server would fill in.
 */
export function podRequests(spec: Json | undefined, reading: FieldReader): PodRequests {
  const asks = (scoredToo: boolean): Map<string, number> => {
    const of = (container: Json, field: string): Map<string, number> => {
      const counts = containerRequests(container, field, reading, !scoredToo);
      if (scoredToo) {
        if (!counts.has('cpu')) counts.set('cpu', SCORED_CPU);
        if (!counts.has('memory')) counts.set('memory', SCORED_MEMORY);
      }
      return counts;
    };
    return containerSum(spec, of);
  };
  const requests = asks(false);
  const scored = asks(true);
  const resources = own(spec, 'resources');
  const whole = containerRequests({ resources: resources ?? null }, 'spec', reading, true);
  for (const [name, count] of whole) {
    requests.set(name, count);
    scored.set(name, count);
  }
  const overhead = reading.resources(own(spec, 'overhead'), 'spec.overhead');
  add(requests, overhead);
  add(scored, overhead);
  for (const [name, count] of requests) if (count === 0) requests.delete(name);
  return { requests, scored: { cpu: scored.get('cpu') ?? 0, memory: scored.get('memory') ?? 0 } };
}

function containerRequests(
  container: Json,
  field: string,
  reading: FieldReader,
  tells: boolean,
): Map<string, number> {
  const resources = own(container, 'resources');
  // The fields are read twice; the second reading must not report the same faults again.
  const before = reading.wrongs.length;
  const counts = reading.resources(own(resources, 'limits'), `${field}.resources.limits`);
  for (const [name, count] of reading.resources(own(resources, 'requests'), `${field}.resources.requests`))
    counts.set(name, count);
  if (!tells) reading.wrongs.length = before;
  return counts;
}
