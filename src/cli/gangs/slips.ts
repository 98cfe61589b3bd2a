import { isObject, own, ownString, type Json, type JsonObject } from '../../api/json.ts';
import { groupVersionOf } from '../../api/resource.ts';
import {
  LABEL_BASE_POD_GANG,
  LABEL_POD_CLIQUE,
  LABEL_POD_GANG,
  LABEL_SCHEDULER_NAME,
  POD_GANG_API_VERSION,
  POD_GANG_KIND,
} from '../../api/names.ts';
import { editDistance } from '../../api/nearest-key.ts';
import { keyed, quoted } from '../../api/printable.ts';
import { RENDER_FIRST } from '../input/documents.ts';
import type { NoticeName } from './notices.ts';
import type { PodTemplate } from '../../workloads/pod-templates.ts';
import { templateKinds } from '../../workloads/template-kinds.ts';

/** A slip in one object, where in it, and what is particular to it. */
export interface Slip {
  readonly rule: NoticeName;
  readonly path: string;
  readonly about: string;
}

const LABELS = [LABEL_POD_GANG, LABEL_POD_CLIQUE, LABEL_BASE_POD_GANG, LABEL_SCHEDULER_NAME];

/** What Muster reads, by group: nothing else is looked at, whatever it is called. */
const KINDS = new Map<string, string[]>();
for (const { group, kind } of [{ group: '', kind: 'Pod' }, ...templateKinds]) {
  KINDS.getOrInsert(group, []).push(kind);
}

/** Of what Muster is asked about itself. */
const VERSIONS: Readonly<Record<string, string>> = { Pod: 'v1', [POD_GANG_KIND]: POD_GANG_API_VERSION };

/**
 * Slips that make Muster, or the cluster, pass an object over without a word.
 * @param written the scalar at a path as somebody wrote it
 */
export function slipsIn(
  object: JsonObject,
  templates: readonly PodTemplate[],
  written: (path: string) => string | undefined,
): Slip[] {
  const [apiVersion, kind] = [ownString(object, 'apiVersion') ?? '', ownString(object, 'kind') ?? ''];
  if (apiVersion === '' || kind === '') return [{ rule: 'KindMissing', path: '', about: '' }];
  const kinds = KINDS.get(groupVersionOf(apiVersion).group);
  const known = kinds?.includes(kind) === true;
  if (!known) {
    const meant = kinds?.find((name) => nearly(kind, name));
    if (meant !== undefined)
      return [{ rule: 'KindMisspelt', path: 'kind', about: `${quoted(kind)} (did you mean "${meant}"?)` }];
    if (templates.length === 0) return [];
  }
  const version = VERSIONS[kind];
  if (known && version !== undefined && version !== apiVersion) {
    const about = `${quoted(apiVersion)} for a ${kind} (did you mean "${version}"?)`;
    return [{ rule: 'KindMisspelt', path: 'apiVersion', about }];
  }
  const isPod = kind === 'Pod' && apiVersion === 'v1';
  return [
    ...nameSlips(object, written),
    ...(known && kind !== 'PodTemplate' && !isObject(own(object, 'spec'))
      ? [{ rule: 'SpecMissing', path: '', about: kind } as const]
      : []),
    ...(isPod ? labelSlips(own(object, 'metadata'), 'metadata') : []),
    ...templates.flatMap(({ template, path }) => labelSlips(own(template, 'metadata'), `${path}.metadata`)),
    ...workloadLabels(object, templates),
  ];
}

/** But for its case, or one letter. */
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

/** A value that YAML took for no string, and how to write it as one. */
export const notText = (value: Json, text: string | undefined): string => {
  if (isObject(value))
    return Object.keys(value).some((key) => key.startsWith('{')) ? RENDER_FIRST : 'a mapping';
  if (text === undefined) return quoted(value);
  return `${text} is ${typeof value === 'number' ? 'a number' : quoted(value)} in YAML: quote it: "${text}"`;
};

function labelSlips(metadata: Json | undefined, path: string): Slip[] {
  const labels = own(metadata, 'labels');
  const annotations = own(metadata, 'annotations');
  const here = isObject(labels) ? Object.keys(labels) : [];
  const misspelt = here.flatMap((key): Slip[] => {
    const meant = labelMeant(key);
    if (meant === undefined || here.includes(meant)) return [];
    const at = keyed(`${path}.labels`, key);
    return [{ rule: 'LabelMisspelt', path: at, about: `${quoted(key)} (did you mean "${meant}"?)` }];
  });
  const misplaced = [LABEL_POD_GANG, LABEL_POD_CLIQUE]
    .filter((key) => own(annotations, key) !== undefined && !here.includes(key))
    .map((key): Slip => ({
      rule: 'LabelAsAnnotation',
      path: keyed(`${path}.annotations`, key),
      about: key,
    }));
  return [...misspelt, ...misplaced];
}

/** The label of ours that `key` was meant to be; undefined where it is one, or somebody else's. */
function labelMeant(key: string): string | undefined {
  // Most keys of most Pods: nothing in them sounds like ours.
  if (key.length > 64 || LABELS.includes(key) || !/pod|gang|clique|sched|grove/i.test(key)) return undefined;
  const [prefix, name] = key.includes('/') ? (key.split('/', 2) as [string, string]) : ['', key];
  const sameWord = (ours: string): boolean => bare(name) === bare(ours.slice(ours.indexOf('/') + 1));
  return LABELS.find(
    (ours) =>
      editDistance(key.toLowerCase(), ours) <= 2 ||
      ((prefix === '' || /grove/i.test(prefix)) && sameWord(ours)) ||
      bare(key) === bare(ours),
  );
}

const bare = (name: string): string => name.toLowerCase().replaceAll(/[-_./]/g, '');

/** The labels of a workload are its own; its Pods have those of the template. */
function workloadLabels(object: JsonObject, templates: readonly PodTemplate[]): Slip[] {
  const labels = own(own(object, 'metadata'), 'labels');
  if (templates.length === 0 || own(labels, LABEL_POD_GANG) === undefined) return [];
  const inSome = templates.some(
    ({ template }) => own(own(own(template, 'metadata'), 'labels'), LABEL_POD_GANG) !== undefined,
  );
  if (inSome) return [];
  const path = keyed('metadata.labels', LABEL_POD_GANG);
  return [{ rule: 'LabelOnWorkload', path, about: LABEL_POD_GANG }];
}
