import { join } from 'node:path';
import { stringify } from 'yaml';
import { kindName } from '../src/cli/doctor/installed/wanted.ts';
import { isTarget } from '../src/cli/doctor/installed/kustomize.ts';
import { settings } from '../src/config/settings.ts';
import type { JsonObject } from '../src/json/json.ts';
import { EditedText, indented, type FieldPath } from './edits.ts';
import { LABELS, PLACES } from './places.ts';
import {
  conditionalPatches,
  manifestFiles,
  readManifest,
  switchOf,
  type ConditionalPatch,
  type ManifestFile,
  type PatchOperation,
} from './sources.ts';

const SYSTEM = /(?<![\w-])muster-system(?![\w-])/g;
/** Stands for `{{` of a manifest, which Helm would read as its own. */
const NOT_HELM = '\u0001';
/** Labels that `muster.labels` writes. */
const OWN_LABELS = new Set(['app.kubernetes.io/name', 'app.kubernetes.io/part-of']);
/** Fields that a component patches, where the values write the whole field: the partials follow the component. */
const WRITTEN_BY_VALUES: ReadonlySet<string> = new Set([
  'components/preemption-preview /spec/template/spec/containers/0/resources/limits/memory',
  'components/grove-operator /spec/variables/0/expression',
  'components/in-cluster-certificates /metadata/annotations/cert-manager.io~1inject-ca-from',
]);
/** Values that a component writes into the Deployment, where the values say more than it. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  MUSTER_TRUSTED_ACCOUNTS: '{{ include "muster.trustedAccounts" . | fromJsonArray | join "," }}',
};

/** The templates that are made from manifests/, by their path in templates/. */
export function madeTemplates(): ReadonlyMap<string, string> {
  const patches = conditionalPatches();
  const used = new Set<ConditionalPatch>();
  const files = manifestFiles().map((file) => [file.template, madeFile(file, patches, used)] as const);
  const unused = patches.filter((patch) => !used.has(patch));
  if (unused.length > 0) {
    throw new Error(
      `no object for a patch of ${unused.map(({ of, target }) => `${of}: ${target.name}`).join(', ')}`,
    );
  }
  return new Map([...files, ['_made.tpl', partials(patches)]]);
}

function madeFile(
  file: ManifestFile,
  patches: readonly ConditionalPatch[],
  used: Set<ConditionalPatch>,
): string {
  const documents = readManifest(file.path)
    .replaceAll('{{', NOT_HELM)
    .split(/^---\n/m)
    .map((document) => madeDocument(document.trimEnd(), patches, used));
  const body = documents.join('\n---\n').replaceAll(NOT_HELM, '{{ "{{" }}');
  const made = `{{- /* Made from ${join('manifests', file.path)} by charts/make.ts. */}}\n`;
  return file.condition === undefined
    ? `${made}${body}\n`
    : `${made}{{- if ${file.condition} }}\n${body}\n{{- end }}\n`;
}

function madeDocument(
  text: string,
  patches: readonly ConditionalPatch[],
  used: Set<ConditionalPatch>,
): string {
  const edited = new EditedText(text);
  const object = edited.document.toJS() as JsonObject;
  const absent: string[] = [];
  for (const patch of patches.filter(({ target }) => isTarget(target, object))) {
    used.add(patch);
    if (patch.operations === undefined) absent.push(patch.condition);
    else operate(edited, patch);
  }
  label(edited, LABELS[kindName(object)] ?? '');
  for (const place of PLACES) {
    const { kind, name = '.*', path, how } = place;
    if (!isTarget({ kind, name }, object)) continue;
    const fields = path.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step));
    if (how === 'append') edited.append(fields, place.text);
    else if (how === 'field') edited.replaceField(fields, place.text);
    else edited.replaceValue(fields, place.text);
  }
  if (kindName(object).endsWith('WebhookConfiguration')) narrow(edited, object);
  const body = reached(edited.toString());
  return absent.reduce((inner, condition) => `{{- if ${opposite(condition)} }}\n${inner}\n{{- end }}`, body);
}

/** The labels of every object, and behind them those that this one has besides. */
function label(edited: EditedText, further: string): void {
  const include = `{{- include "muster.labels" . | nindent @+2 }}${further}`;
  const path = ['metadata', 'labels'];
  if (!edited.has(path)) return edited.append(['metadata'], `labels:\n  ${include}`);
  const labels = (edited.document.toJS() as { metadata: { labels: Record<string, string> } }).metadata.labels;
  const others = Object.entries(labels).filter(([key]) => !OWN_LABELS.has(key));
  const kept = others.length === 0 ? '' : `\n${indented(stringify(Object.fromEntries(others)).trimEnd(), 2)}`;
  edited.replaceField(path, `labels:\n  ${include}${kept}`);
}

function operate(edited: EditedText, { of, condition, operations = [] }: ConditionalPatch): void {
  for (const operation of operations) {
    if (operation.op === 'test' || WRITTEN_BY_VALUES.has(`${of} ${operation.path}`)) continue;
    const path = operation.path
      .split('/')
      .slice(1)
      .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
    const before = `{{- if ${condition} }}`;
    if (path.at(-1) === '-') {
      edited.append(path.slice(0, -1), `${before}\n${itemOf(operation)}\n{{- end }}`);
    } else if (operation.op === 'remove') {
      const [unless, end] = [`{{- if ${opposite(condition)} }}`, '{{- end }}'];
      if (typeof path.at(-1) === 'number') edited.wrapItem(path, unless, end);
      else edited.wrapField(path, unless, end);
    } else if (operation.op === 'replace') {
      const field = stringify({ [String(path.at(-1))]: operation.value }, { lineWidth: 0 }).trimEnd();
      edited.wrapField(path, `${before}\n${field}\n{{- else }}`, '{{- end }}');
    } else throw new Error(`${of}: ${operation.op} of ${operation.path} is not known here`);
  }
}

const opposite = (condition: string): string =>
  condition.startsWith('not (') ? condition.slice('not ('.length, -1) : `not ${condition}`;

function itemOf({ value }: PatchOperation): string {
  const { name } = value as { readonly name?: string };
  const written = name === undefined ? undefined : ENVIRONMENT[name];
  const item = written === undefined ? value : { ...(value as object), value: '@' };
  return stringify([item], { singleQuote: true, lineWidth: 0 })
    .trimEnd()
    .replace("'@'", written ?? '@');
}

/** Webhooks of the objects that `controllers.podGang.objectSelector` is about. */
const OF_GANGS = /^(pods|workload-pods|podgangs)\./;

/** The gangs that the configuration selects are those that the webhooks are asked about; and who signed Muster's certificate. */
function narrow(edited: EditedText, object: JsonObject): void {
  const webhooks = object['webhooks'] as readonly { readonly name: string }[];
  webhooks.forEach(({ name }, index) => {
    const at: FieldPath = ['webhooks', index];
    edited.append(
      [...at, 'clientConfig'],
      '{{- with $.Values.certificates.caBundle }}\ncaBundle: {{ . }}\n{{- end }}',
    );
    const selectors = OF_GANGS.test(name) ? ['namespaceSelector', 'objectSelector'] : ['namespaceSelector'];
    for (const selector of selectors) {
      const further = (part: string): string =>
        `{{- with include "muster.gangs" (list $ "${selector}" "${part}") }}\n{{- . | nindent @ }}\n{{- end }}`;
      if (edited.has([...at, selector])) {
        edited.append([...at, selector, 'matchExpressions'], further('matchExpressions'));
        edited.append([...at, selector], further('matchLabels'));
      } else edited.append(at, further('selector'));
    }
  });
}

/** The namespace and the accounts, wherever a manifest names them but in comments. */
const reached = (text: string): string =>
  text
    .replaceAll(
      /(- name: trusted\n +expression: >-\n +)\[[^\]]*\]/g,
      '$1{{ include "muster.trustedInCEL" . }}',
    )
    .split('\n')
    .map((line) => {
      if (/^\s*#/.test(line)) return line;
      return line.replaceAll(SYSTEM, '{{ include "muster.namespace" . }}');
    })
    .join('\n');

/** What the partials have to know of the components: the memory that one asks for, and the settings that they bring. */
function partials(patches: readonly ConditionalPatch[]): string {
  const operations = patches.flatMap(({ of, condition, operations: list = [] }) =>
    list.map((operation) => ({ of, condition, ...operation })),
  );
  const memory = '/spec/template/spec/containers/0/resources/limits/memory';
  const usual = new EditedText(readManifest('base/deployment.yaml').trimEnd()).document;
  const branches = operations
    .filter(({ path }) => path === memory)
    .map(({ condition, value }) => `{{ if ${condition} }}${String(value)}{{ else }}`);
  const brought = operations.flatMap(({ of, value }) => {
    const { name } = (value ?? {}) as { readonly name?: string };
    const setting = settings.find(({ environment }) => environment !== undefined && environment === name);
    return setting === undefined ? [] : [[setting.path, switchOf(of)] as const];
  });
  const switched = brought.filter(([path]) => path !== 'trustedAccounts');
  return `{{- /* Made from manifests/ by charts/make.ts. */}}
{{- define "muster.memoryLimit" -}}
${branches.join('')}${String(usual.getIn(memory.slice(1).split('/')))}${'{{ end }}'.repeat(branches.length)}
{{- end }}

{{- /* Settings that a component brings, and its switch. */}}
{{- define "muster.switched" -}}
${JSON.stringify(Object.fromEntries(switched))}
{{- end }}
`;
}
