import { messageOf } from '../../errors.ts';
import { isNotFound, isUnreachable } from '../../kube/client/errors.ts';
import { stringify } from 'yaml';
import { ownString, type JsonObject } from '../../json/json.ts';
import type { PatchOperation } from '../../json/patch.ts';
import { parseGroupVersion, objectName } from '../../k8s/resource.ts';

/** The parts of an installation, in the order in which a person mends them. */
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

/** `not-checked`: it could not be seen from here, with these rights; never a word for fine. */
export type CheckResult = 'ok' | 'warning' | 'problem' | 'not-checked';

/** One thing that `muster doctor` looked at. The names are those of `-o json`. */
export interface Diagnosis {
  readonly group: Group;
  /** Which check it comes from, for programs: the same for everything that check may say. */
  readonly check: string;
  readonly severity: CheckResult;
  readonly found: string;
  /** What to do, one sentence; absent where it is fine. */
  readonly fix?: string;
  /** Commands for a shell that do just that, in their order; absent where no command does. */
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

/** What a question to the cluster came to. */
export type Read<T> =
  | { readonly state: 'found'; readonly value: T }
  | { readonly state: 'absent' }
  /** Mostly for want of a right. */
  | { readonly state: 'unread'; readonly reason: string };

export const found = <T>(value: T): Read<T> => ({ state: 'found', value });
export const ABSENT: Read<never> = { state: 'absent' };
export const unread = (reason: string): Read<never> => ({ state: 'unread', reason });

/** Asks, and keeps what went wrong. @throws MusterError CLUSTER_UNREACHABLE: then there is nothing to tell at all */
export async function attempt<T>(ask: () => Promise<T>): Promise<Read<T>> {
  try {
    return found(await ask());
  } catch (error) {
    if (isUnreachable(error)) throw error;
    return isNotFound(error) ? ABSENT : unread(reasonOf(error));
  }
}

/** A missing right in few words: `may not list pods`. Anything else as it is; a webhook's 403 is not about rights. */
export function reasonOf(error: unknown): string {
  const message = messageOf(error);
  const what = /^(.*?): 403 /.exec(message)?.[1];
  return what !== undefined && / is forbidden: User ".*" cannot /.test(message) ? `may not ${what}` : message;
}

/** What was found. */
export const valueOf = <T>(read: Read<T>): T | undefined => (read.state === 'found' ? read.value : undefined);

export const RIGHTS_FIX = 'run it as somebody who may read this, such as cluster-admin';

/** Commands for a shell. They are printed, never run; `kubectl` stands first in each. */

/** In single quotes: nothing in it means anything to a shell. */
export const quotedForShell = (text: string): string =>
  /^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** `-n` and the name, by what kubectl calls the kind: with its group, as another may have the same name. */
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

/** The namespace, with a blank behind it, and the rest. */
function placed(object: JsonObject): readonly string[] {
  const parts = named(object).split(' ');
  return parts[0] === '-n' ? [`-n ${parts[1]} `, ...parts.slice(2)] : ['', ...parts];
}

/** The end of the text is a word that is no line of it. */
export const applyCommand = (object: JsonObject): string =>
  `kubectl apply -f - <<'EOF'\n${stringify(object, { lineWidth: 0 }).trimEnd()}\nEOF`;

/** With the flags by which this cluster was named. */
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
