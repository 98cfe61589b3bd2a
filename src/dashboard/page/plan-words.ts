import type { PlanAnswer } from '../wire.ts';

/** A plan in sentences, the most important first. */
export function planWords({ says, plan }: PlanAnswer): readonly string[] {
  const sentences = [`${says.charAt(0).toUpperCase()}${says.slice(1)}.`];
  if (plan === null) return sentences;
  const { victims, awaited, largest, warnings = [] } = plan;
  const broken = victims.filter(({ violatesPDB }) => violatesPDB).length;
  if (broken > 0)
    sentences.push(
      broken === 1
        ? 'One of those who would make room would break a PodDisruptionBudget.'
        : `${broken} of those who would make room would break a PodDisruptionBudget.`,
    );
  if (awaited.length > 0) sentences.push(`On the way out already: ${listText(awaited)}.`);
  if (largest !== undefined)
    sentences.push(`The largest gang of this shape that fits now: ${shapeText(largest)}.`);
  return [...sentences, ...warnings.map((warning) => `Warning: ${warning}.`)];
}

/** `worker 2, leader 1`; Pods of no group have only their number. */
const shapeText = (groups: Readonly<Record<string, number>>): string =>
  Object.entries(groups)
    .map(([group, pods]) => (group === '' ? `${pods} ${pods === 1 ? 'Pod' : 'Pods'}` : `${group} ${pods}`))
    .join(', ');

const listText = (names: readonly string[]): string =>
  names.length <= 5 ? names.join(', ') : `${names.slice(0, 4).join(', ')} and ${names.length - 4} more`;

/** What a unit of a plan is called: `Pod ml/web`, `gang ml/train`. */
export const unitName = ({
  unit,
  namespace,
  name,
}: Pick<NonNullable<PlanAnswer['plan']>['victims'][number], 'unit' | 'namespace' | 'name'>): string =>
  `${unit === 'PodGang' ? 'gang' : unit} ${namespace}/${name}`;
