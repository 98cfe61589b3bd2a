import type { JsonObject } from '../../src/json/json.ts';
import type { GangKind } from '../../src/workloads/kind.ts';
import { gangKindOf } from '../../src/workloads/kinds.ts';
import { pod } from './pods.ts';

/** A Pod as the controller of its workload makes it from a template with the label `muster.dev/gang`. */
export function workloadPod(
  short: string,
  name: string,
  group = 'main',
  given: {
    readonly part?: string;
    readonly labels?: Readonly<Record<string, string | undefined>>;
    readonly annotations?: JsonObject;
    readonly controller?: JsonObject;
    readonly metadata?: JsonObject;
  } = {},
  kinds?: readonly GangKind[],
): JsonObject {
  const made = gangKindOf(short, kinds)?.mark(name, group, given.part);
  if (made === undefined) throw new Error(`there is no kind ${short}`);
  const labels = { 'muster.dev/gang': 'true', ...made.labels, ...given.labels } as Record<string, string>;
  return pod({
    labels,
    annotations: given.annotations,
    metadata: {
      name: made.name ?? undefined,
      ...(made.name === undefined && { generateName: `${name}-` }),
      ownerReferences: [{ ...made.controller, uid: `uid-of-${name}`, controller: true, ...given.controller }],
      ...given.metadata,
    },
  });
}
