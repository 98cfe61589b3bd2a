import { type JsonObject, isObject } from '../json/json.ts';
import { type ConfigPath, type PathFault, error, formatPath } from './config-fault.ts';
import type { OperatorConfiguration, Schedulers } from './configuration.ts';
import { parseGoDuration } from '../k8s/time.ts';
import { inWords, messageFor } from './messages.ts';
import { suggestion } from '../text/nearest-key.ts';
import { quoted } from '../text/printable.ts';
import { applyRules } from './rules.ts';
import type { KnownWorkload } from './workload-rules.ts';
import { resolveSchedulers } from './schedulers.ts';
import { type DefaultedDocument, operatorConfigurationSchema } from './schema.ts';
import { knownKeys, settings } from './settings.ts';

export interface ValidationOptions {
  /** Names of the registered backends; the configuration itself knows none. */
  readonly supportedSchedulers: readonly string[];
  /** Backends for whose gangs Muster may preempt; absent: `preemption.profiles` is not checked against them. */
  readonly actsFor?: readonly string[] | undefined;
  /** Kinds of workloads that are gangs without `workloads`; absent: `workloads` is not checked against them. */
  readonly workloads?: readonly KnownWorkload[] | undefined;
}

/** Whether null is a value at this path. Elsewhere a null comes from a key without a value in YAML, and counts as absent. */
const isFreeForm = (path: ConfigPath): boolean =>
  path[0] === 'metadata' ||
  path.at(-1) === 'matchLabels' ||
  (path.at(-1) === 'config' && typeof path.at(-2) === 'number');

/** `document` without the keys whose value is null: `server:` with nothing under it means its defaults. */
function withoutNulls(document: unknown, path: ConfigPath = []): unknown {
  if (Array.isArray(document)) return document.map((item, index) => withoutNulls(item, [...path, index]));
  if (!isObject(document) || isFreeForm(path)) return document;
  const kept = Object.entries(document).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutNulls(value, [...path, key])]));
}

/** A key that is no slip comes with a configuration of before an upgrade, or of after a rollback. */
const OTHER_VERSION = ' (this version of Muster has no such setting; another one may)';

function unknownKey(parent: ConfigPath, key: string): PathFault {
  const homes = new Set(
    settings
      .filter((setting) => setting.keys.includes(key))
      .map(({ keys }) => formatPath(keys.slice(0, keys.indexOf(key)))),
  );
  const [home] = homes;
  const hint =
    homes.size === 1 && home !== undefined
      ? ` (it belongs ${home === '' ? 'at the top level' : `in ${home}`})`
      : suggestion(key, knownKeys(parent));
  return {
    path: [...parent, key],
    message: `unknown key ${quoted(key)}${hint === '' ? OTHER_VERSION : hint}`,
    severity: 'error',
    atKey: true,
  };
}

function schemaFindings(document: unknown): { data?: DefaultedDocument; findings: PathFault[] } {
  // A document is read once: to compile a reader of it takes longer than the reading.
  const result = operatorConfigurationSchema.safeParse(document, { error: messageFor, jitless: true });
  if (result.success) return { data: result.data, findings: [] };
  const findings = result.error.issues.flatMap((issue) => {
    const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
    if (issue.code !== 'unrecognized_keys') return [error(path, issue.message)];
    return issue.keys.map((key) => unknownKey(path, key));
  });
  return { findings };
}

function finish(data: DefaultedDocument, schedulers: Schedulers): OperatorConfiguration {
  const { leaseDuration, renewDeadline, retryPeriod, ...lock } = data.leaderElection;
  return {
    schedulers,
    logLevel: data.logLevel,
    logFormat: data.logFormat,
    logDecisionsPerSecond: data.logDecisionsPerSecond,
    controllers: data.controllers,
    topologyAwareScheduling: data.topologyAwareScheduling,
    leaderElection: {
      ...lock,
      leaseDurationMs: parseGoDuration(leaseDuration) ?? 0,
      renewDeadlineMs: parseGoDuration(renewDeadline) ?? 0,
      retryPeriodMs: parseGoDuration(retryPeriod) ?? 0,
    },
    server: data.server,
    trustedAccounts: data.trustedAccounts,
    preemption: data.preemption,
    hpc: data.hpc,
    workloads: data.workloads,
    fleet: data.fleet,
    runtimeClientConnection: data.runtimeClientConnection,
    debugging: data.debugging,
    authorizer: data.authorizer,
    network: data.network,
    featureGates: data.featureGates,
  };
}

/** All faults of a parsed document, and the configuration where none of them is an error. */
export function inspect(
  raw: unknown,
  options: ValidationOptions,
): { readonly configuration?: OperatorConfiguration; readonly findings: readonly PathFault[] } {
  if (!isObject(raw)) {
    return { findings: [error([], `must be a mapping with apiVersion and kind, not ${inWords(raw)}`)] };
  }
  const document = withoutNulls(raw) as JsonObject;
  const schema = schemaFindings(document);
  const { schedulers, findings: schedulerFindings } = resolveSchedulers(
    document,
    options.supportedSchedulers,
  );
  const findings = [
    ...schema.findings,
    ...schedulerFindings,
    ...applyRules(document, {
      enabled: schedulers.profiles.map(({ name }) => name),
      actsFor: options.actsFor,
      workloads: options.workloads ?? [],
    }),
  ];
  if (schema.data === undefined || findings.some(({ severity }) => severity === 'error')) return { findings };
  return { configuration: finish(schema.data, schedulers), findings };
}
