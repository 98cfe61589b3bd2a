import type { PlannedGang, PlannedUnit } from '../../dashboard/wire.ts';
import { refusalText } from '../../preemption/refusal.ts';
import { planVerdict, type PlanOutcome } from '../../preemption/outcome.ts';
import type { PlannedDomain, JudgedUnit } from '../../preemption/search.ts';
import { titleOfScope } from '../../preemption/topology.ts';
import { printable } from '../../text/printable.ts';
import { columns, reflowed } from '../output/text-layout.ts';
import { count } from '../output/findings.ts';
import type { Palette } from '../output/palette.ts';

/** What `-o json` prints. */
export interface PlanObject extends PlannedGang {
  readonly reprieved: readonly PlannedUnit[];
  readonly rejected: readonly {
    readonly node: string;
    readonly predicate: string;
    readonly message: string;
  }[];
  readonly shortfall: Readonly<Record<string, string>>;
  readonly refusal?: string;
  readonly domains?: readonly object[];
}

/** The plan for `-o json`, sorted so that the same plan is the same text. */
export function planObject(
  { plan, shortfall, largest }: PlanOutcome,
  warnings: readonly string[] = [],
): PlanObject {
  const unit = ({
    unit: { kind, namespace, name, priority, pods },
    violatesBudget,
    why,
  }: JudgedUnit): PlannedUnit => ({
    unit: kind,
    namespace,
    name,
    priority,
    pods: pods.map(({ key }) => key).sort(),
    violatesPDB: violatesBudget,
    why,
  });
  return {
    variant: plan.variant,
    fits: plan.fits,
    feasible: plan.feasible,
    placement: Object.fromEntries([...plan.placement].sort(([a], [b]) => (a < b ? -1 : 1))),
    victims: plan.victims.map(unit),
    // Units that stay violate no budget.
    reprieved: plan.reprieved.map((one) => unit({ ...one, violatesBudget: false })),
    awaited: plan.awaited,
    rejected: plan.rejected.map(({ node, predicate, messages }) => ({
      node,
      predicate,
      message: messages.join(', '),
    })),
    shortfall,
    ...(plan.refusal === undefined ? {} : { refusal: refusalText(plan.refusal, 'operator') }),
    ...(largest === undefined ? {} : { largest: Object.fromEntries(largest) }),
    ...(plan.domains.length === 0 ? {} : { domains: plan.domains.map(domainObject) }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

/** The plan for people. @param given.reprieved whether to list the units that may stay */
export function planText(
  outcome: PlanOutcome,
  given: {
    readonly reprieved: boolean;
    readonly now: number;
    readonly palette: Palette;
    readonly width: number;
  },
): string {
  const { plan, preemptor, largest } = outcome;
  const { palette, width } = given;
  const paint = plan.fits ? palette.good : plan.feasible ? palette.warn : palette.bad;
  const lines = [
    reflowed(
      `${preemptor.kind === 'Gang' ? 'gang' : 'Pod'} ${printable(preemptor.key)} (priority ${preemptor.priority}) ${paint(planVerdict(outcome))}`,
      width,
    ),
  ];
  if (largest !== undefined) lines.push(`the largest gang of this shape that fits now: ${shapeOf(largest)}`);
  if (plan.victims.length > 0) lines.push('', ...table('VICTIM', plan.victims, given));
  if (plan.reprieved.length > 0) {
    if (given.reprieved)
      lines.push(
        '',
        ...table(
          'MAY STAY',
          plan.reprieved.map((one) => ({ ...one, violatesBudget: false })),
          given,
        ),
      );
    else lines.push('', `${count(plan.reprieved.length, 'unit')} below it may stay (--reprieved shows them)`);
  }
  if (!plan.feasible && plan.rejected.length > 0)
    lines.push(
      '',
      ...columns(
        [
          ['NODE', 'PREDICATE', 'WHY'],
          ...plan.rejected.map(({ node, predicate, messages }) => [node, predicate, messages.join(', ')]),
        ],
        palette,
        width,
      ),
    );
  if (plan.domains.length > 0)
    lines.push(
      '',
      ...columns([['TOGETHER', 'LABEL', 'DOMAIN', 'ASKED'], ...plan.domains.map(domainRow)], palette),
    );
  if (plan.placement.size > 0)
    lines.push(
      '',
      ...columns([['POD', 'NODE'], ...[...plan.placement].sort(([a], [b]) => (a < b ? -1 : 1))], palette),
    );
  return `${lines.join('\n')}\n`;
}

/** `groups: null` means all groups. `domain: null` means several domains, of a preferred constraint that does not hold. */
const domainObject = ({ scope, required, value, leftOut }: PlannedDomain): object => ({
  groups: scope.groups ?? null,
  key: scope.key,
  domain: value ?? null,
  required,
  ...(leftOut === undefined ? {} : { leftOut }),
});

const domainRow = ({ scope, required, value, leftOut }: PlannedDomain): string[] => [
  titleOfScope(scope),
  scope.key,
  value ?? '-',
  required
    ? leftOut === undefined
      ? 'required'
      : `required; ${count(leftOut, 'more domain')} not looked at`
    : value === undefined
      ? 'preferred: not kept'
      : 'preferred',
];

const shapeOf = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .map(([group, pods]) => (group === '' ? count(pods, 'Pod') : `${printable(group)} ${pods}`))
    .join(', ');

function table(
  head: string,
  units: readonly JudgedUnit[],
  { now, palette, width }: { readonly now: number; readonly palette: Palette; readonly width: number },
): string[] {
  const rows = units.map(({ unit, violatesBudget, why }) => [
    `${unit.kind} ${unit.namespace}/${unit.name}`,
    String(unit.priority),
    String(unit.pods.length),
    ageOf(unit.start, now),
    violatesBudget ? 'broken' : 'kept',
    nodesOf(unit.pods.map(({ nodeName }) => nodeName)),
    why,
  ]);
  return columns([[head, 'PRIORITY', 'PODS', 'AGE', 'PDB', 'NODES', 'WHY'], ...rows], palette, width);
}

function nodesOf(names: readonly string[]): string {
  const all = [...new Set(names)].sort();
  return all.length <= 3 ? all.join(',') : `${all.slice(0, 2).join(',')} and ${all.length - 2} more`;
}

function ageOf(start: number, now: number): string {
  if (!Number.isFinite(start)) return '-';
  const seconds = Math.max(0, Math.floor((now - start) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
