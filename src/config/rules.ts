import { type Json, own, ownString } from '../json/json.ts';
import { isLabelKey } from '../k8s/name-syntax.ts';
import { MUSTER_SERVICE_ACCOUNT, MUSTER_USER } from '../api/names.ts';
import { printable, quoted } from '../text/printable.ts';
import { type PathFault, error, warning } from './config-fault.ts';
import { kindFindings, workloadFaults, type KnownWorkload } from './workload-rules.ts';
import { entryFindings, PLUGINS, PREPARATIONS } from './plugin-rules.ts';
import { parseGoDuration } from '../k8s/time.ts';
import { selectorFindings } from './label-selector.ts';
import { settings } from './settings.ts';

/**
 * Rules across fields, and rules that a schema cannot express. They read the document as written, with defaults, so that
 * they apply even where another value is malformed; a value of the wrong type is skipped, since the schema has reported it.
 */
type Read = (path: string) => Json | undefined;

const defaults = new Map(settings.map((setting) => [setting.path, setting.default]));

const reader =
  (document: unknown): Read =>
  (path) => {
    let value = document as Json | undefined;
    for (const key of path.split('.')) value = own(value, key);
    return value ?? defaults.get(path);
  };

const GROVE_LEASE = 'grove-operator-leader-election';
/** client-go refuses a renewDeadline that leaves no time for one jittered retry (its JitterFactor). */
const JITTER = 1.2;

function leaderElection(read: Read): PathFault[] {
  if (read('leaderElection.enabled') !== true) return [];
  const findings: PathFault[] = [];
  const duration = (key: string): number => {
    const text = read(`leaderElection.${key}`);
    const milliseconds = typeof text === 'string' ? parseGoDuration(text) : undefined;
    if (milliseconds !== undefined && milliseconds > 0) return milliseconds;
    if (milliseconds !== undefined) findings.push(error(['leaderElection', key], 'must be greater than 0'));
    return NaN; // compares false with everything, so no rule below reports it
  };
  const lease = duration('leaseDuration');
  const renew = duration('renewDeadline');
  const retry = duration('retryPeriod');
  if (lease <= renew) {
    findings.push(
      error(['leaderElection', 'leaseDuration'], 'LeaseDuration must be greater than RenewDeadline'),
    );
  }
  if (renew <= retry * JITTER) {
    findings.push(
      error(
        ['leaderElection', 'renewDeadline'],
        `RenewDeadline must be greater than ${JITTER} times RetryPeriod`,
      ),
    );
  }
  if (read('leaderElection.resourceName') === GROVE_LEASE) {
    findings.push(
      warning(
        ['leaderElection', 'resourceName'],
        `"${GROVE_LEASE}" is the Grove operator’s own Lease: in its namespace only one of the two would lead`,
      ),
    );
  }
  return findings;
}

/** Checks topology levels. While topology is disabled, their faults are warnings. */
function topology(read: Read): PathFault[] {
  const say = read('topologyAwareScheduling.enabled') === true ? error : warning;
  const levels = read('topologyAwareScheduling.levels');
  if (!Array.isArray(levels)) return [];
  const findings: PathFault[] = [];
  const seen = { domain: new Set<string>(), key: new Set<string>() };
  levels.forEach((level: Json, index) => {
    for (const field of ['domain', 'key'] as const) {
      const value = ownString(level, field);
      if (value === undefined || value === '') continue;
      const path = ['topologyAwareScheduling', 'levels', index, field];
      if (field === 'key' && !isLabelKey(value))
        findings.push(say(path, `${quoted(value)} is not a valid label key`));
      if (seen[field].has(value)) findings.push(say(path, `duplicate ${field} ${quoted(value)}`));
      seen[field].add(value);
    }
  });
  return findings;
}

const gangSelectors = (read: Read): PathFault[] =>
  ['namespaceSelector', 'objectSelector'].flatMap((name) =>
    selectorFindings(read(`controllers.podGang.${name}`), ['controllers', 'podGang', name]),
  );

const SERVERS = ['webhooks', 'healthProbes', 'metrics'] as const;

function ports(read: Read): PathFault[] {
  const findings: PathFault[] = [];
  SERVERS.forEach((name, index) => {
    const port = read(`server.${name}.port`);
    const address = read(`server.${name}.bindAddress`);
    const rival = SERVERS.slice(0, index).find((other) => {
      const theirs = read(`server.${other}.bindAddress`);
      return read(`server.${other}.port`) === port && (theirs === address || theirs === '' || address === '');
    });
    if (rival !== undefined && typeof port === 'number' && port !== 0) {
      findings.push(error(['server', name, 'port'], `port ${port} is taken by server.${rival}`));
    }
  });
  return findings;
}

function webhookLimits(read: Read): PathFault[] {
  const findings: PathFault[] = [];
  const atMost = (section: string, smaller: string, larger: string): void => {
    const low = read(`server.webhooks.${section}.${smaller}`);
    const high = read(`server.webhooks.${section}.${larger}`);
    if (typeof low === 'number' && typeof high === 'number' && low > high) {
      findings.push(
        error(['server', 'webhooks', section, smaller], `must not be greater than ${larger} (${high})`),
      );
    }
  };
  atMost('limits', 'maxBodyBytes', 'maxInFlightBytes');
  atMost('drain', 'seconds', 'maxSeconds');
  return findings;
}

const SERVICE_ACCOUNT = /^system:serviceaccount:[^:]+:[^:]+$/;

function trustedAccounts(read: Read): PathFault[] {
  const accounts = read('trustedAccounts');
  if (!Array.isArray(accounts)) return [];
  const findings: PathFault[] = [];
  accounts.forEach((account: Json, index) => {
    if (typeof account !== 'string') return;
    const path = ['trustedAccounts', index];
    if (account.startsWith('system:serviceaccount:') && !SERVICE_ACCOUNT.test(account)) {
      findings.push(error(path, 'must be of the form system:serviceaccount:<namespace>:<name>'));
    }
    if (accounts.indexOf(account) < index)
      findings.push(warning(path, `duplicate account ${quoted(account)}`));
  });
  // The Lease may be in another namespace, because Muster is.
  const namespace = read('leaderElection.resourceNamespace');
  const there =
    typeof namespace === 'string' ? `system:serviceaccount:${namespace}:${MUSTER_SERVICE_ACCOUNT}` : '';
  if (!accounts.includes(MUSTER_USER) && !accounts.includes(there)) {
    findings.push(
      warning(
        ['trustedAccounts'],
        `"${MUSTER_USER}" is not listed: right only if Muster runs under another account, and that one is listed`,
      ),
    );
  }
  return findings;
}

/** Checks preemption. @param actsFor profiles whose scheduler leaves preemption to Muster; undefined: not known */
function preemption(
  read: Read,
  enabled: readonly string[],
  actsFor: readonly string[] | undefined,
): PathFault[] {
  const findings = notPositive(read, 'preemption.after');
  const profiles = read('preemption.profiles');
  const acts = read('preemption.mode') === 'Act';
  if (!Array.isArray(profiles)) return findings;
  profiles.forEach((name: Json, index) => {
    if (typeof name !== 'string' || name === '') return;
    const path = ['preemption', 'profiles', index];
    if (!acts) {
      if (index === 0)
        findings.push(warning(['preemption', 'profiles'], 'nothing is done: preemption.mode is Off'));
    } else if (actsFor !== undefined && !actsFor.includes(name)) {
      findings.push(
        error(
          path,
          `${quoted(name)} makes room for its gangs itself, or nobody knows whether it does, and two would evict twice as much: take it out (possible: ${printable(actsFor.join(', '))})`,
        ),
      );
    } else if (!enabled.includes(name)) {
      findings.push(
        error(path, `${quoted(name)} is not among scheduler.profiles: add it there, or take it out here`),
      );
    }
  });
  return findings;
}

function notPositive(read: Read, key: string): PathFault[] {
  const after = read(key);
  const wrong = typeof after === 'string' && (parseGoDuration(after) ?? 1) <= 0;
  return wrong ? [error(key.split('.'), 'must be greater than 0')] : [];
}

/** A renewal leaves time for itself, and no certificate is to outlive its CA. */
function certificates(read: Read): PathFault[] {
  const milliseconds = (path: string): number => {
    const text = read(`server.certificates.${path}`);
    return typeof text === 'string' ? (parseGoDuration(text) ?? NaN) : NaN;
  };
  const findings = (['leaf', 'ca'] as const).flatMap((of): PathFault[] => {
    const path = ['server', 'certificates', of];
    const duration = milliseconds(`${of}.duration`);
    const before = milliseconds(`${of}.renewBefore`);
    if (duration < 60_000) return [error([...path, 'duration'], 'must be at least 1m')];
    if (before <= 0) return [error([...path, 'renewBefore'], 'must be greater than 0')];
    return before >= duration ? [error([...path, 'renewBefore'], 'must be less than duration')] : [];
  });
  if (milliseconds('ca.settle') < 0) {
    findings.push(error(['server', 'certificates', 'ca', 'settle'], 'must not be negative'));
  }
  if (milliseconds('leaf.duration') > milliseconds('ca.duration')) {
    const text = 'must not be greater than ca.duration: a certificate ends with its CA';
    findings.push(error(['server', 'certificates', 'leaf', 'duration'], text));
  }
  return findings;
}

/**
 * All faults that the rules find in a document.
 * @param given.enabled names of the document's profiles
 */
export function applyRules(
  document: unknown,
  given: {
    readonly enabled: readonly string[];
    readonly actsFor: readonly string[] | undefined;
    readonly workloads: readonly KnownWorkload[];
  },
): PathFault[] {
  const read = reader(document);
  return [
    ...leaderElection(read),
    ...topology(read),
    ...gangSelectors(read),
    ...ports(read),
    ...webhookLimits(read),
    ...certificates(read),
    ...trustedAccounts(read),
    ...preemption(read, given.enabled, given.actsFor),
    ...kindFindings(read('fleet.kinds'), ['fleet', 'kinds']),
    ...workloadFaults(read('workloads'), given.workloads),
    ...notPositive(read, 'fleet.estimators.timeout'),
    ...[PLUGINS, PREPARATIONS].flatMap((list) => entryFindings(read(list.path.join('.')), list)),
  ];
}
