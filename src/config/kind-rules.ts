import { type Json, own, ownList, ownString } from '../json/json.ts';
import { type ConfigPath, type PathFault, error } from './config-fault.ts';

/**
 * What the schema cannot say of a list of kinds: two of a kind, one without templates, names that nothing can be read from.
 * @param at where the list stands
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
