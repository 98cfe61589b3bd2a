import { askingWorkload } from '../../workloads/asking-workload.ts';
import { checkWorkload } from '../../workloads/check-workload.ts';
import type { GangKind } from '../../workloads/kind.ts';
import type { SourceObject } from '../input/source-object.ts';
import { findingOf, type Finding } from '../output/findings.ts';

/** Admission's findings about a workload; undefined for a workload that asks for no gang. */
export function workloadFindings(
  source: SourceObject,
  kinds: readonly GangKind[] | undefined,
): Finding[] | undefined {
  if (askingWorkload(source.object, kinds) === undefined) return undefined;
  const { faults, warnings } = checkWorkload(source.object, kinds);
  return [
    ...faults.map((one) => findingOf(source, one)),
    ...warnings.map((text): Finding => {
      // A warning begins with its field.
      const field = text.slice(0, text.indexOf(': '));
      const message = text.slice(field.length + 2);
      return { ...findingOf(source, { field, message, rule: 'AdmissionWarning' }), severity: 'warning' };
    }),
  ];
}
