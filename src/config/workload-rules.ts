import { own, ownList, ownString, type Json } from '../json/json.ts';
import { printable, quoted } from '../text/printable.ts';
import { error, type PathFault, type ConfigPath } from './config-fault.ts';

/** A built-in kind of workload, which needs no entry in the configuration. */
export interface KnownWorkload {
  readonly short: string;
  readonly group: string;
  readonly kind: string;
  /** Kinds that may control its Pods, such as `batch/Job`. */
  readonly controllers: readonly string[];
}

/** Maximal length of `short`. */
const LONGEST_SHORT = 20;

/** Faults of `workloads` that the schema cannot express. */
export function workloadFaults(workloads: Json | undefined, known: readonly KnownWorkload[]): PathFault[] {
  if (!Array.isArray(workloads)) return [];
  const shorts = new Map(known.map(({ short, kind }) => [short, kind]));
  return [
    ...kindFindings(workloads, ['workloads']),
    ...(workloads as readonly Json[]).flatMap((workload, index) => {
      const path = ['workloads', index];
      const findings: PathFault[] = [];
      const [group, kind] = [ownString(workload, 'group') ?? '', ownString(workload, 'kind') ?? ''];
      const title = `${group}/${kind}`;
      const isKnown = (one: KnownWorkload): boolean =>
        one.controllers.includes(title) || (one.group === group && one.kind === kind);
      if (known.some(isKnown)) {
        findings.push(
          error(
            [...path, 'kind'],
            `Muster knows the Pods of ${printable(title, 80)} by itself: take this entry out`,
          ),
        );
      }
      const written = ownString(workload, 'short');
      const short = written ?? kind.toLowerCase();
      const at = [...path, 'short'];
      if (short.length > LONGEST_SHORT && written === undefined) {
        findings.push(
          error(at, `is required: ${printable(short, 80)} has more than ${LONGEST_SHORT} characters`),
        );
      }
      const other = shorts.get(short);
      if (other !== undefined) {
        findings.push(
          error(
            at,
            `${quoted(short)} is how gangs of ${printable(other, 80)} begin: give this kind another one`,
          ),
        );
      }
      if (short !== '') shorts.set(short, kind);
      const labels = own(workload, 'labels');
      const several = (ownList(workload, 'templates') ?? []).length > 0;
      if (several && labels !== undefined && own(labels, 'group') === undefined) {
        const why = 'is required with templates: nothing else says which of them a Pod is made from';
        findings.push(error([...path, 'labels', 'group'], why));
      }
      if (!several && own(labels, 'group') !== undefined) {
        const why = 'is for templates only: with single all Pods are of one group, so take it out';
        findings.push(error([...path, 'labels', 'group'], why));
      }
      return findings;
    }),
  ];
}

/**
 * Faults of a list of kinds that the schema cannot express: a kind twice, a kind without templates, a template without the
 * name of its component.
 * @param at path of the list
 */
export function kindFindings(kinds: Json | undefined, at: ConfigPath): PathFault[] {
  if (!Array.isArray(kinds)) return [];
  const seen = new Set<string>();
  return (kinds as readonly Json[]).flatMap((kind, index) => {
    const path = [...at, index];
    const findings: PathFault[] = [];
    const name = `${ownString(kind, 'group') ?? ''} ${ownString(kind, 'kind') ?? ''}`;
    if (seen.has(name))
      findings.push(error([...path, 'kind'], 'duplicate kind: one entry tells of all its versions'));
    seen.add(name);
    const templates = ownList(kind, 'templates') ?? [];
    if (templates.length === 0 && own(kind, 'single') === undefined) {
      findings.push(
        error(path, 'must say where Pod templates are: templates, or single where there is but one'),
      );
    }
    templates.forEach((template, position) => {
      const where = [...path, 'templates', position];
      const listed = own(template, 'items') !== undefined;
      if (!listed && own(template, 'name') === undefined)
        findings.push(
          error([...where, 'name'], 'is required where there are no items: nothing else names the component'),
        );
      if (!listed && own(template, 'nameFrom') !== undefined)
        findings.push(error([...where, 'nameFrom'], 'is for items only: without them write name'));
    });
    return findings;
  });
}
