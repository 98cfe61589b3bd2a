import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { metricCatalogue } from '../../src/telemetry/metric-catalogue.ts';

/**
 * Everything that the program can say, from its source: the messages of its log, its metrics with the values of labels
 * that mean something, and the reasons of its Events. A run of all tests is held against it (check.ts): what nobody
 * heard is either cut off from what it tells of, or has no test.
 */
export interface Sayable {
  readonly kind: 'log' | 'metric' | 'event';
  readonly what: string;
  /** Where it is said. */
  readonly at: string;
  readonly heard: (line: string) => boolean;
}

const ROOT = join(import.meta.dirname, '../..');

/** Cannot be provoked through the program, and where the reason to believe in them is instead. */
const MOMENT = 'stands above zero for a moment only';
export const ELSEWHERE: Readonly<Record<string, string>> = {
  'metric muster_admission_in_flight': `${MOMENT}; test/component/server/overload.test.ts looks then`,
  'metric muster_admission_in_flight_bytes': `${MOMENT}; test/component/server/overload.test.ts looks then`,
  'metric muster_loop_queue_depth': `${MOMENT}; test/unit/telemetry/loop-metrics.test.ts looks then`,
  'metric muster_loop_queue_oldest_seconds': `${MOMENT}; test/unit/telemetry/loop-metrics.test.ts looks then`,
  'metric muster_loop_longest_running_seconds': `${MOMENT}; test/unit/telemetry/loop-metrics.test.ts looks then`,
  'metric muster_kube_throttled_seconds_total': 'only where a rate is set; test/cluster/loop.test.ts',
  'event BackendNotReady': 'a reason of Initialized; test/unit/gang/plan/holds.test.ts',
  'event WaitingForBackendObjects': 'a reason of Initialized; test/unit/gang/plan/holds.test.ts',
  'log error ending after an unexpected error': 'a defect; test/unit/cli/serve/begun.test.ts makes one',
  'log error an object could not be dealt with': 'a defect of ours in a handler of a watch',
  'log error a decision failed': 'a defect of ours; a backend that breaks its contract is told otherwise',
};

/** Types of Events, and reasons of conditions that no Event is made of. */
const NO_EVENTS = new Set([
  'Normal',
  'Warning',
  'NotInitialized',
  'PodsPending',
  'WaitingForBackend',
  'BackendNotConfigured',
  'Success',
  'QuotaExceeded',
  'SchedulerError',
]);

const LABELS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  muster_admission_requests_total: { outcome: ['allowed', 'patched', 'denied', 'failed'] },
  muster_admission_shed_total: { reason: ['requests', 'bytes', 'not-ready'] },
  muster_tls_reload_total: { result: ['unchanged', 'swapped', 'rejected'] },
  muster_loop_reconciles_total: { result: ['ok', 'outdated', 'error'] },
  muster_loop_cached_objects: { resource: ['pods', 'podgangs'] },
  grove_scheduler_backend_operation_total: {
    operation: ['create', 'update', 'delete', 'mutate'],
    status: ['success', 'failure'],
  },
  grove_scheduler_backend_initialization_duration_seconds: { status: ['success', 'failure'] },
};

let all: Sayable[] | undefined;

export const everythingSaid = (): readonly Sayable[] => (all ??= readAll());

function readAll(): Sayable[] {
  const found: Sayable[] = [];
  for (const [name] of Object.entries(metricCatalogue)) {
    const at = 'src/telemetry/metric-catalogue.ts';
    const series = new RegExp(`^${name}(_count|_sum)?(\\{|$)`);
    found.push({ kind: 'metric', what: name, at, heard: (line) => series.test(line) });
    for (const [label, values] of Object.entries(LABELS[name] ?? {})) {
      for (const value of values) {
        const with_ = (line: string): boolean => series.test(line) && line.includes(`${label}="${value}"`);
        found.push({ kind: 'metric', what: `${name}{${label}="${value}"}`, at, heard: with_ });
      }
    }
  }
  for (const file of readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.ts')) found.push(...saidIn(join(ROOT, 'src', file)));
  }
  const once = new Map(found.map((one) => [`${one.kind} ${one.what}`, one]));
  return [...once.values()];
}

/** Most files say nothing, and taking one apart costs a second under jest. */
const MAY_SAY = /\blog(ger)?\.(debug|info|warn|error)\(|\breason:|\b(gangEvent|podEvent|tell)\(/;

function saidIn(path: string): Sayable[] {
  const text = readFileSync(path, 'utf8');
  if (!MAY_SAY.test(text)) return [];
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: Sayable[] = [];
  const eventful = /src\/(gang\/plan|controller)\//.test(path);
  const at = (node: ts.Node): string =>
    `${relative(ROOT, path)}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
  const event = (node: ts.Expression): void => {
    for (const what of literalsOf(node))
      if (/^[A-Z]\w+$/.test(what) && !NO_EVENTS.has(what))
        found.push({ kind: 'event', what, at: at(node), heard: (line) => line === what });
  };
  const look = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isLogCall(node.expression)) {
      const level = node.expression.name.text;
      const message = messageOf(node.arguments.at(-1));
      if (message !== undefined) {
        const heard = (line: string): boolean => line.startsWith(`${level} `) && message.like.test(line);
        found.push({ kind: 'log', what: `${level} ${message.what}`, at: at(node), heard });
      }
    }
    if (eventful && ts.isPropertyAssignment(node) && node.name.getText() === 'reason')
      event(node.initializer);
    if (
      eventful &&
      ts.isCallExpression(node) &&
      /(^|[.#])(gangEvent|podEvent|tell)$/.test(node.expression.getText())
    )
      for (const argument of node.arguments) event(argument);
    ts.forEachChild(node, look);
  };
  look(source);
  return found;
}

const isLogCall = (callee: ts.Expression): callee is ts.PropertyAccessExpression =>
  ts.isPropertyAccessExpression(callee) &&
  ['debug', 'info', 'warn', 'error'].includes(callee.name.text) &&
  /(^|\.)log(ger)?$/.test(callee.expression.getText());

/** The text of a message, and what it looks like where something is put into it; nothing of one that comes from elsewhere. */
function messageOf(node: ts.Expression | undefined): { what: string; like: RegExp } | undefined {
  if (node === undefined) return undefined;
  const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  if (ts.isStringLiteralLike(node))
    return { what: node.text, like: new RegExp(`^\\w+ ${escaped(node.text)}$`) };
  if (!ts.isTemplateExpression(node)) return undefined;
  const parts = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
  return { what: parts.join('…'), like: new RegExp(`^\\w+ ${parts.map(escaped).join('.*')}$`, 's') };
}

function literalsOf(node: ts.Expression): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isConditionalExpression(node)) return [...literalsOf(node.whenTrue), ...literalsOf(node.whenFalse)];
  return [];
}
