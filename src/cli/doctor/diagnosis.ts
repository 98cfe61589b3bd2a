import { messageOf } from '../../errors.ts';
import { isNotFound, isUnreachable } from '../../kube/client/errors.ts';
import { stringify } from 'yaml';
import { ownString, type JsonObject } from '../../json/json.ts';
import type { PatchOperation } from '../../json/patch.ts';
import { parseGroupVersion, objectName } from '../../k8s/resource.ts';

/** The parts of an installation, in the order in which they are best repaired. */
export const GROUPS = [
  'cluster',
  'definitions',
  'rights',
  'webhooks',
  'certificate',
  'admission',
  'policies',
  'interpreter',
  'assigner',
  'program',
  'backends',
  'gangs',
] as const;

export type Group = (typeof GROUPS)[number];

/** `not-checked`: the user's rights or this machine's network did not allow the check; it never stands for `ok`. */
export type CheckResult = 'ok' | 'warning' | 'problem' | 'not-checked';

/** One finding of `muster doctor`, with the field names of `-o json`. */
export interface Diagnosis {
  readonly group: Group;
  /** Identifier of the check, for programs: the same for every finding of that check. */
  readonly check: string;
  readonly severity: CheckResult;
  readonly found: string;
  /** The way out, one sentence; absent for `ok`. */
  readonly fix?: string;
  /** Shell commands that carry out the fix, in order; absent where no command does. */
  readonly commands?: readonly string[];
}

/** Makes the findings of one check. */
export interface Say {
  ok(found: string): Diagnosis;
  warning(found: string, fix: string): Diagnosis;
  problem(found: string, fix: string): Diagnosis;
  notChecked(found: string, fix: string): Diagnosis;
}

export const saying = (group: Group, check: string): Say => {
  const say =
    (severity: CheckResult) =>
    (found: string, fix: string): Diagnosis => ({ group, check, severity, found, fix });
  return {
    ok: (found) => ({ group, check, severity: 'ok', found }),
    warning: say('warning'),
    problem: say('problem'),
    notChecked: say('not-checked'),
  };
};

/** The outcome of a request to the cluster. */
export type Read<T> =
  | { readonly state: 'found'; readonly value: T }
  | { readonly state: 'absent' }
  /** The request failed, mostly for want of a right. */
  | { readonly state: 'unread'; readonly reason: string };

export const found = <T>(value: T): Read<T> => ({ state: 'found', value });
export const ABSENT: Read<never> = { state: 'absent' };
export const unread = (reason: string): Read<never> => ({ state: 'unread', reason });

/**
 * Sends a request, and returns an error as `unread`.
 * @throws MusterError CLUSTER_UNREACHABLE, which ends the whole examination
 */
export async function attempt<T>(ask: () => Promise<T>): Promise<Read<T>> {
  try {
    return found(await ask());
  } catch (error) {
    if (isUnreachable(error)) throw error;
    return isNotFound(error) ? ABSENT : unread(reasonOf(error));
  }
}

/** `may not list pods` for a missing right, else the error's message. A 403 of a webhook is no missing right. */
export function reasonOf(error: unknown): string {
  const message = messageOf(error);
  const what = /^(.*?): 403 /.exec(message)?.[1];
  return what !== undefined && / is forbidden: User ".*" cannot /.test(message) ? `may not ${what}` : message;
}

/** The value that was found; undefined for any other outcome. */
export const valueOf = <T>(read: Read<T>): T | undefined => (read.state === 'found' ? read.value : undefined);

export const RIGHTS_FIX = 'run it as somebody who may read this, such as cluster-admin';

/** Commands for a shell. They are printed, never run; `kubectl` stands first in each. */

/** The text in single quotes, in which a shell interprets nothing. */
export const quotedForShell = (text: string): string =>
  /^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** `-n` and the name, with the kind as kubectl takes it: with its group, since other groups may have the same kind. */
function named(object: JsonObject): string {
  const { group } = parseGroupVersion(ownString(object, 'apiVersion') ?? '');
  const kind = (ownString(object, 'kind') ?? '').toLowerCase();
  const namespace = ownString(object['metadata'], 'namespace');
  const place = namespace === undefined ? '' : `-n ${quotedForShell(namespace)} `;
  return `${place}${quotedForShell(group === '' ? kind : `${kind}.${group}`)} ${quotedForShell(objectName(object))}`;
}

export const patchCommand = (object: JsonObject, operations: readonly PatchOperation[]): string => {
  const [place, ...rest] = placed(object);
  return `kubectl ${place}patch ${rest.join(' ')} --type=json -p ${quotedForShell(JSON.stringify(operations))}`;
};

export const deleteCommand = (object: JsonObject): string => {
  const [place, ...rest] = placed(object);
  return `kubectl ${place}delete ${rest.join(' ')}`;
};

/** The words of the namespace, followed by the rest. */
function placed(object: JsonObject): readonly string[] {
  const parts = named(object).split(' ');
  return parts[0] === '-n' ? [`-n ${parts[1]} `, ...parts.slice(2)] : ['', ...parts];
}

/** A `kubectl apply` of a here-document; its end word is no line of the text. */
export const applyCommand = (object: JsonObject): string =>
  `kubectl apply -f - <<'EOF'\n${stringify(object, { lineWidth: 0 }).trimEnd()}\nEOF`;

/** The command with the flags that chose this cluster. */
export function inCluster(
  finding: Diagnosis,
  { kubeconfig, context }: { readonly kubeconfig?: string; readonly context?: string },
): Diagnosis {
  const flags = [
    ...(kubeconfig === undefined ? [] : [`--kubeconfig ${quotedForShell(kubeconfig)} `]),
    ...(context === undefined ? [] : [`--context ${quotedForShell(context)} `]),
  ].join('');
  if (finding.commands === undefined || flags === '') return finding;
  return {
    ...finding,
    commands: finding.commands.map((command) => command.replace(/^kubectl /, () => `kubectl ${flags}`)),
  };
}
