import { checkSpec } from '../../admission/validate-pod-gang.ts';
import type { Policy } from '../../admission/decision.ts';
import { own, ownString, type JsonObject } from '../../api/json.ts';
import { LABEL_POD_GANG, POD_GANG_API_VERSION, POD_GANG_GROUP, POD_GANG_KIND } from '../../api/names.ts';
import { printable, quoted } from '../../api/printable.ts';
import { nearestKey } from '../../api/nearest-key.ts';
import { checkConfiguration } from '../../config/load.ts';
import { CONFIG_API_VERSION, CONFIG_KIND } from '../../config/schema.ts';
import { parsePodGang } from '../../gang/parse-pod-gang.ts';
import { isPodGangName } from '../../api/name-syntax.ts';
import type { SourceObject } from '../input/documents.ts';
import { unknownPodGangFields } from '../input/pod-gang-fields.ts';
import { toYaml } from '../input/yaml-dialect.ts';

/** Something to say about one place of a file. */
export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly severity: 'error' | 'warning';
  /** Path of the field; '' for the object as a whole. */
  readonly path: string;
  readonly message: string;
}

export interface ValidationContext {
  readonly policy: Policy;
  /** Of PodGangs that name none. */
  readonly namespace: string;
  readonly supportedSchedulers: readonly string[];
}

/** What was found in one object, or undefined where it is neither of the kinds that are validated. */
export function validateObject(source: SourceObject, context: ValidationContext): Finding[] | undefined {
  const [apiVersion, kind] = ['apiVersion', 'kind'].map((key) => ownString(source.object, key) ?? '');
  if (apiVersion === POD_GANG_API_VERSION && kind === POD_GANG_KIND)
    return inOrder(checkPodGang(source, context));
  if (apiVersion === CONFIG_API_VERSION && kind === CONFIG_KIND) return checkConfig(source, context);
  const wrong = misnamed(apiVersion ?? '', kind ?? '');
  return wrong && [finding(source, 'error', wrong.path, wrong.message)];
}

function finding(
  source: SourceObject,
  severity: Finding['severity'],
  path: string,
  message: string,
): Finding {
  return { file: source.file, ...source.locate(path), severity, path, message };
}

function checkPodGang(source: SourceObject, { policy, namespace }: ValidationContext): Finding[] {
  const { object } = source;
  const parsed = parsePodGang(object, ownString(own(object, 'metadata'), 'namespace') || namespace);
  const { faults, warnings } = checkSpec(parsed, policy);
  return [
    ...unknownPodGangFields(object).map(({ path, message }) => finding(source, 'error', path, message)),
    ...checkName(source, object),
    ...faults.map(({ field, message }) => finding(source, 'error', field, message)),
    ...warnings.map((message) => finding(source, 'warning', '', printable(message))),
  ];
}

/** A name of the wrong form the API server refuses by itself; here there is none to do it. */
function checkName(source: SourceObject, object: JsonObject): Finding[] {
  const metadata = own(object, 'metadata');
  const name = ownString(metadata, 'name');
  if (name === undefined) {
    if (ownString(metadata, 'generateName') !== undefined) return [];
    return [finding(source, 'error', 'metadata.name', 'Required value: a PodGang has a name; add it')];
  }
  // Too long has its own fault, by the rules of admission.
  if (name.length > 63 || isPodGangName(name)) return [];
  const message = `Invalid value: ${quoted(name)}: a lower-case DNS name of at most 63 characters, since it is the value of the label ${LABEL_POD_GANG}`;
  return [finding(source, 'error', 'metadata.name', message)];
}

function checkConfig(source: SourceObject, { supportedSchedulers }: ValidationContext): Finding[] {
  const faults = checkConfiguration(source.text ?? toYaml(source.object), { supportedSchedulers });
  return faults.map(({ path, message, severity, line, column }) => {
    const place =
      source.text === undefined || line === undefined ? source.locate(path) : { line, column: column ?? 1 };
    return { file: source.file, ...place, severity, path, message: printable(message, 1024) };
  });
}

const KINDS = [
  { apiVersion: POD_GANG_API_VERSION, kind: POD_GANG_KIND, group: POD_GANG_GROUP },
  { apiVersion: CONFIG_API_VERSION, kind: CONFIG_KIND, group: CONFIG_API_VERSION.split('/')[0] ?? '' },
] as const;

/**
 * An object that was meant to be one of ours: its kind is ours or nearly ours under another apiVersion, or its
 * group is ours under another kind. Everything else is another program's.
 */
function misnamed(apiVersion: string, kind: string): { path: string; message: string } | undefined {
  for (const known of KINDS) {
    const sameGroup = apiVersion.split('/')[0] === known.group;
    if (kind === known.kind || nearlyThe(kind, known.kind)) {
      if (apiVersion === known.apiVersion) return unknown('kind', kind, known.kind);
      // The kind alone is a name that others may use; with a group of theirs it is theirs.
      if (apiVersion === '' || sameGroup || nearestKey(apiVersion, [known.apiVersion]) !== undefined) {
        return unknown('apiVersion', apiVersion, known.apiVersion);
      }
    } else if (apiVersion === known.apiVersion) return unknown('kind', kind, known.kind);
  }
  return undefined;
}

const nearlyThe = (kind: string, known: string): boolean =>
  kind !== '' && nearestKey(kind, [known]) !== undefined;

const unknown = (
  path: 'apiVersion' | 'kind',
  found: string,
  meant: string,
): { path: string; message: string } => ({
  path,
  message:
    found === ''
      ? `must be given: "${meant}"`
      : `unknown ${path} ${quoted(found)} (did you mean "${meant}"?)`,
});

/** As they stand in the file, whatever rule found them. */
const inOrder = (findings: readonly Finding[]): Finding[] =>
  [...findings].sort((a, b) => a.line - b.line || a.column - b.column);
