/** Expressions of PromQL against the metrics that Muster has: names, labels, values of labels, and what suits a type. */
import { parser } from '@prometheus-io/lezer-promql';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { WAIT_REASONS } from '../../src/telemetry/gang-metrics.ts';
import { metricCatalogue } from '../../src/telemetry/metric-catalogue.ts';

interface Exposed {
  readonly type: string;
  readonly labels: readonly string[];
  /** Undefined for what every Node process has, whose labels are not described. */
  readonly help: string | undefined;
}

/** What Prometheus, or its operator, adds to every series of a target. */
const TARGET_LABELS = ['cluster', 'namespace', 'pod', 'job', 'instance'];
/** Labels whose values the help does not list. */
const OPEN_LABELS = [
  'path',
  'operation',
  'verb',
  'code',
  'resource',
  'backend_name',
  'version',
  'commit',
  'le',
];
const OF_COUNTERS = ['rate', 'irate', 'increase'];

function exposedMetrics(): ReadonlyMap<string, Exposed> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const described = [
    ...Object.entries(metricCatalogue).map(([name, { type, labels, help }]) => ({
      name,
      type,
      labels,
      help,
    })),
    ...registry.getMetricsAsArray().map((metric) => {
      const { name, type, labelNames } = metric as unknown as {
        name: string;
        type: string;
        labelNames: string[];
      };
      return { name, type, labels: labelNames, help: undefined };
    }),
  ];
  const exposed = new Map<string, Exposed>();
  for (const { name, type, labels, help } of described) {
    if (type !== 'histogram') exposed.set(name, { type, labels, help });
    else {
      for (const suffix of ['_count', '_sum'])
        exposed.set(`${name}${suffix}`, { type: 'counter', labels, help });
      exposed.set(`${name}_bucket`, { type: 'counter', labels: [...labels, 'le'], help });
    }
  }
  return exposed;
}

const EXPOSED = exposedMetrics();

/** The words of all helps that describe a label, and the reasons, for which the help leads to another page. */
const wordsAbout = (label: string): ReadonlySet<string> =>
  new Set([
    ...(label === 'reason' ? WAIT_REASONS : []),
    ...[...EXPOSED.values()]
      .filter(({ labels }) => labels.includes(label))
      .flatMap(({ help = '' }) => help.split(/[^\w-]+/)),
  ]);

type Node = ReturnType<typeof parser.parse>['topNode'];

const descendants = (node: Node, ...names: string[]): Node[] => {
  const found: Node[] = [];
  node.cursor().iterate(({ name, node: one }) => {
    if (names.includes(name)) found.push(one);
  });
  return found;
};

/** The labels that a result has: those that the first aggregation keeps, or all of the first metric's. */
export function labelsOf(expression: string): string[] {
  const { topNode } = parser.parse(expression);
  const [first] = descendants(topNode, 'AggregateExpr', 'VectorSelector');
  if (first === undefined || descendants(topNode, 'Absent').length > 0) return [];
  if (first.name === 'AggregateExpr') {
    const clause = first.getChild('AggregateModifier');
    return clause === null ? [] : descendants(clause, 'LabelName').map((label) => textOf(expression, label));
  }
  const name = textOf(expression, first.getChild('Identifier'));
  return [...TARGET_LABELS, ...(EXPOSED.get(name)?.labels ?? [])];
}

/** What is wrong with an expression; empty where every name in it is one that Muster, or the scrape, gives. */
export function faultsOf(expression: string): string[] {
  const { topNode } = parser.parse(expression);
  const broken = descendants(topNode, '⚠');
  if (broken.length > 0) return broken.map(({ from }) => `does not parse at character ${from + 1}`);
  return [
    ...descendants(topNode, 'VectorSelector').flatMap((selector) => faultsOfSelector(expression, selector)),
    ...descendants(topNode, 'AggregateExpr', 'BinaryExpr').flatMap((node) =>
      faultsOfGrouping(expression, node),
    ),
    ...descendants(topNode, 'FunctionCall').flatMap((call) => faultsOfCall(expression, call)),
  ];
}

function faultsOfSelector(expression: string, selector: Node): string[] {
  const name = textOf(expression, selector.getChild('Identifier'));
  const metric = EXPOSED.get(name);
  if (metric === undefined) return [`no metric ${name}`];
  return descendants(selector, 'UnquotedLabelMatcher').flatMap((matcher) => {
    const label = textOf(expression, matcher.getChild('LabelName'));
    if (TARGET_LABELS.includes(label)) return [];
    if (!metric.labels.includes(label)) return [`${name} has no label ${label}`];
    const value = textOf(expression, matcher.getChild('StringLiteral')).slice(1, -1);
    const words = wordsAbout(label);
    const known =
      metric.help === undefined ||
      OPEN_LABELS.includes(label) ||
      value.split('|').every((one) => words.has(one));
    return known ? [] : [`no help names ${label} ${value}, of ${name}`];
  });
}

function faultsOfGrouping(expression: string, node: Node): string[] {
  const clause = node.getChild('AggregateModifier') ?? node.getChild('MatchingModifierClause');
  const metrics = descendants(node, 'VectorSelector').map((selector) =>
    textOf(expression, selector.getChild('Identifier')),
  );
  const labels =
    clause === null ? [] : descendants(clause, 'LabelName').map((label) => textOf(expression, label));
  return labels
    .filter((label) => !TARGET_LABELS.includes(label))
    .flatMap((label) =>
      metrics.flatMap((name) =>
        (EXPOSED.get(name)?.labels ?? []).includes(label)
          ? []
          : [`${name} has no label ${label} to group by`],
      ),
    );
}

function faultsOfCall(expression: string, call: Node): string[] {
  const name = textOf(expression, call.getChild('FunctionIdentifier'));
  return descendants(call, 'MatrixSelector').flatMap((range) => {
    const metric = textOf(expression, descendants(range, 'Identifier')[0] ?? null);
    const isCounter = EXPOSED.get(metric)?.type === 'counter';
    return OF_COUNTERS.includes(name) && !isCounter && EXPOSED.has(metric)
      ? [`${name} of ${metric}, which is no counter`]
      : [];
  });
}

const textOf = (expression: string, node: { from: number; to: number } | null): string =>
  node === null ? '' : expression.slice(node.from, node.to);
