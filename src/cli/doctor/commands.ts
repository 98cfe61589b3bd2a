import { stringify } from 'yaml';
import { ownString, type JsonObject } from '../../json/json.ts';
import type { PatchOperation } from '../../json/patch.ts';
import { parseGroupVersion, objectName } from '../../k8s/resource.ts';
import type { Diagnosis } from './diagnosis.ts';

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
