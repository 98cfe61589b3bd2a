import { own, ownString } from '../../json/json.ts';
import { printable } from '../../text/printable.ts';
import type { Interpretation } from '../../fleet/interpretation.ts';
import { objectTitle } from '../../k8s/field-reader.ts';
import type { SourceObject } from '../input/documents.ts';
import { columns } from '../output/columns.ts';
import { count } from '../output/findings.ts';
import type { Palette } from '../output/palette.ts';

/** One workload of the input with what it says. */
export interface Interpreted extends Interpretation {
  readonly source: SourceObject;
}

/** For programs: what Karmada is told, and the minimum, which it has no word for. */
export function interpretationObject({
  source,
  components,
  replicas,
  healthy,
  dependencies,
}: Interpreted): object {
  const metadata = own(source.object, 'metadata');
  return {
    object: {
      apiVersion: ownString(source.object, 'apiVersion') ?? '',
      kind: ownString(source.object, 'kind') ?? '',
      namespace: ownString(metadata, 'namespace') ?? '',
      name: ownString(metadata, 'name') ?? '',
    },
    components: components.map((one) => ({
      name: one.name,
      replicas: one.replicas,
      minAvailable: one.minAvailable,
      requirements: one.requirements ?? null,
    })),
    replicas,
    healthy,
    dependencies,
  };
}

/** For people. */
export function interpretationText(interpreted: Interpreted, palette: Palette): string {
  const { source, components, replicas, healthy, dependencies } = interpreted;
  const lines = [
    `${printable(objectTitle(source.object))}: ${count(replicas, 'Pod')}, ${healthy ? palette.good('healthy') : palette.bad('not healthy')}`,
  ];
  if (components.length > 0) {
    const rows = components.map(({ name, replicas: pods, minAvailable, requirements }) => [
      printable(name),
      String(pods),
      String(minAvailable),
      Object.entries(requirements?.resourceRequest ?? {})
        .map(([resource, amount]) => `${printable(resource)} ${amount}`)
        .join(', ') || '-',
    ]);
    lines.push(
      ...columns([['COMPONENT', 'PODS', 'MINIMUM', 'EACH NEEDS'], ...rows], palette).map(
        (line) => `  ${line}`,
      ),
    );
  }
  if (dependencies.length > 0)
    lines.push(
      `  beside it: ${dependencies.map(({ kind, name }) => printable(`${kind} ${name}`)).join(', ')}`,
    );
  return `${lines.join('\n')}\n`;
}
