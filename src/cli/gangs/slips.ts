import { isObject, own, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { parseGroupVersion } from '../../k8s/resource.ts';
import { POD_GANG_API_VERSION, POD_GANG_KIND } from '../../api/names.ts';
import { editDistance } from '../../text/nearest-key.ts';
import { quoted } from '../../text/printable.ts';
import { RENDER_FIRST } from '../input/documents.ts';
import type { NoticeName } from './notices.ts';
import { gangSlips, ownKeySlips, podSlips, slipsOfWorkload } from '../../workloads/label-slips.ts';
import type { PodTemplate } from '../../workloads/pod-templates.ts';
import { templateKinds, kindAmong } from '../../workloads/kinds.ts';

/** A slip in an object: its rule, its field and the details. */
export interface Slip {
  readonly rule: NoticeName;
  readonly path: string;
  readonly about: string;
}

/** Kinds that Muster reads, by API group; objects of other groups are not checked. */
const KINDS = new Map<string, string[]>();
for (const { group, kind } of [{ group: '', kind: 'Pod' }, ...templateKinds]) {
  KINDS.getOrInsert(group, []).push(kind);
}

/** API versions of the kinds for which Muster's webhooks are called. */
const VERSIONS: Readonly<Record<string, string>> = { Pod: 'v1', [POD_GANG_KIND]: POD_GANG_API_VERSION };

/**
 * Slips because of which Muster or the cluster silently ignores an object.
 * @param written the text of the scalar at a path in the file
 */
export function slipsIn(
  object: JsonObject,
  templates: readonly PodTemplate[],
  written: (path: string) => string | undefined,
): Slip[] {
  const [apiVersion, kind] = [ownString(object, 'apiVersion') ?? '', ownString(object, 'kind') ?? ''];
  if (apiVersion === '' || kind === '') return [{ rule: 'KindMissing', path: '', about: '' }];
  const kinds = KINDS.get(parseGroupVersion(apiVersion).group);
  const known = kinds?.includes(kind) === true;
  if (!known) {
    const meant = kinds?.find((name) => nearly(kind, name));
    if (meant !== undefined)
      return [{ rule: 'KindMisspelt', path: 'kind', about: `${quoted(kind)} (did you mean "${meant}"?)` }];
    if (templates.length === 0) return [...keySlips(object, templates)];
  }
  const version = VERSIONS[kind];
  if (known && version !== undefined && version !== apiVersion) {
    const about = `${quoted(apiVersion)} for a ${kind} (did you mean "${version}"?)`;
    return [{ rule: 'KindMisspelt', path: 'apiVersion', about }];
  }
  return [
    ...nameSlips(object, written),
    ...(known && kind !== 'PodTemplate' && !isObject(own(object, 'spec'))
      ? [{ rule: 'SpecMissing', path: '', about: kind } as const]
      : []),
    ...keySlips(object, templates),
  ];
}

/** Slips in labels and annotations: keys of Muster that have no effect on such an object. */
export function keySlips(object: JsonObject, templates: readonly PodTemplate[]): readonly Slip[] {
  const metadata = own(object, 'metadata');
  switch (`${ownString(object, 'apiVersion') ?? ''} ${ownString(object, 'kind') ?? ''}`) {
    case 'v1 Pod':
      return podSlips(metadata, 'metadata');
    case `${POD_GANG_API_VERSION} ${POD_GANG_KIND}`:
      return gangSlips(metadata, 'metadata');
    default:
      return isWorkload(object, templates)
        ? slipsOfWorkload(object, templates)
        : ownKeySlips(metadata, 'metadata');
  }
}

/** A workload whose Pod templates are at an unknown path is recognized by its kind. */
const isWorkload = (object: JsonObject, templates: readonly PodTemplate[]): boolean =>
  templates.length > 0 || kindAmong(templateKinds, object) !== undefined;

/** Whether two kinds differ in case, a plural `s` or one letter. */
const nearly = (kind: string, known: string): boolean =>
  kind.length < 64 &&
  (kind.toLowerCase() === `${known.toLowerCase()}s` ||
    editDistance(kind.toLowerCase(), known.toLowerCase()) <= (known.length > 3 ? 1 : 0));

function nameSlips(object: JsonObject, written: (path: string) => string | undefined): Slip[] {
  const metadata = own(object, 'metadata');
  const wrong = (['name', 'generateName', 'namespace'] as const).flatMap((key): Slip[] => {
    const value = own(metadata, key);
    if (value === undefined || value === null || typeof value === 'string') return [];
    const path = `metadata.${key}`;
    return [{ rule: 'NameNotText', path, about: notText(value, written(path)) }];
  });
  if (wrong.length > 0) return wrong;
  const named = ownString(metadata, 'name') || ownString(metadata, 'generateName');
  return named ? [] : [{ rule: 'NameMissing', path: 'metadata', about: '' }];
}

/** A value that YAML does not read as a string, and how to write it as one. */
export const notText = (value: Json, text: string | undefined): string => {
  if (isObject(value))
    return Object.keys(value).some((key) => key.startsWith('{')) ? RENDER_FIRST : 'a mapping';
  if (text === undefined) return quoted(value);
  return `${text} is ${typeof value === 'number' ? 'a number' : quoted(value)} in YAML: quote it: "${text}"`;
};
