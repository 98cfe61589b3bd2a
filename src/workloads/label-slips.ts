import { isObject, own, type Json, type JsonObject } from '../json/json.ts';
import {
  LABEL_BASE_POD_GANG,
  LABEL_GANG,
  LABEL_POD_CLIQUE,
  LABEL_POD_GANG,
  LABEL_SCHEDULER_NAME,
  MARK_GANG_PER,
  MUSTER_PREFIX,
} from '../api/names.ts';
import { editDistance, nearestKey } from '../text/nearest-key.ts';
import { ownKeys } from '../api/keys.ts';
import { keyed, printable, quoted } from '../text/printable.ts';
import { valueAt, type Path } from './path.ts';
import type { PodTemplate } from './pod-templates.ts';

/** Mistakes in a key, with the way to correct them. */
export const labelSlips = {
  LabelMisspelt: {
    says: 'is no label that Muster reads',
    fix: 'correct the key, or the Pod belongs to no gang',
  },
  SchedulerMisspelt: {
    says: 'is no label that Muster reads',
    fix: 'correct the key, or the gang is of the default backend',
  },
  LabelAsAnnotation: { says: 'is read as a label only', fix: 'move it to metadata.labels' },
  AnnotationAsLabel: { says: 'is read as an annotation only', fix: 'move it to metadata.annotations' },
  LabelOnWorkload: {
    says: 'the workload has it and its Pods have not: they belong to no gang',
    fix: 'put it into metadata.labels of the Pod template',
  },
  KeyUnknown: {
    says: 'nobody reads this key, and the prefix muster.dev/ is Muster’s own',
    fix: 'correct it, or leave it out',
  },
} as const;

/** A mistake in one object, with its place and the key. */
export interface LabelSlip {
  readonly rule: keyof typeof labelSlips;
  readonly path: string;
  readonly about: string;
}

/** One line of text for a mistake. */
export function slipText({ rule, path, about }: LabelSlip): string {
  const { says, fix } = labelSlips[rule];
  return `${printable(path)}: ${printable(about)}: ${says}; ${fix} [${rule}]`;
}

/** Labels that make a Pod a member of a gang or choose its backend. */
const POD_LABELS = [
  LABEL_POD_GANG,
  LABEL_POD_CLIQUE,
  LABEL_BASE_POD_GANG,
  LABEL_SCHEDULER_NAME,
  LABEL_GANG,
  MARK_GANG_PER,
];
/** Labels without which a Pod is in no gang. */
const MEMBERSHIP = [LABEL_POD_GANG, LABEL_POD_CLIQUE, LABEL_GANG];

/** Mistakes in the metadata of a Pod or a Pod template. */
export function podSlips(metadata: Json | undefined, path: string): LabelSlip[] {
  const [labels, annotations] = [keysOf(metadata, 'labels'), keysOf(metadata, 'annotations')];
  const misspelt = labels.flatMap((key): LabelSlip[] => {
    const meant = labelMeant(key);
    if (meant === undefined || labels.includes(meant)) return [];
    return [{ rule: 'LabelMisspelt', path: keyed(`${path}.labels`, key), about: meaning(key, meant) }];
  });
  const misplaced = MEMBERSHIP.filter((key) => annotations.includes(key) && !labels.includes(key)).map(
    (key): LabelSlip => ({
      rule: 'LabelAsAnnotation',
      path: keyed(`${path}.annotations`, key),
      about: key,
    }),
  );
  const told = new Set([...misspelt, ...misplaced].map((slip) => slip.path));
  return [...misspelt, ...misplaced, ...ownKeySlips(metadata, path).filter((slip) => !told.has(slip.path))];
}

/** Keys with Muster's own prefix that Muster does not read, or not as this kind of key. */
export function ownKeySlips(metadata: Json | undefined, path: string): LabelSlip[] {
  return (['labels', 'annotations'] as const).flatMap((map) =>
    keysOf(metadata, map).flatMap((key): LabelSlip[] => {
      if (!key.startsWith(MUSTER_PREFIX)) return [];
      const place = keyed(`${path}.${map}`, key);
      const as = Object.hasOwn(ownKeys, key) ? ownKeys[key] : undefined;
      if (as === 'annotation' && map === 'labels')
        return [{ rule: 'AnnotationAsLabel', path: place, about: key }];
      // A misplaced label is reported by `podSlips` and `workloadSlips`, which know the labels of the Pods.
      if (as !== undefined) return [];
      return [{ rule: 'KeyUnknown', path: place, about: meaning(key, nearestOwn(key)) }];
    }),
  );
}

/** Mistakes in the metadata of a PodGang: its only label that Muster reads, and keys with Muster's own prefix. */
export function gangSlips(metadata: Json | undefined, path: string): LabelSlip[] {
  const labels = keysOf(metadata, 'labels');
  const misspelt = labels.flatMap((key): LabelSlip[] => {
    if (labelMeant(key) !== LABEL_SCHEDULER_NAME || labels.includes(LABEL_SCHEDULER_NAME)) return [];
    const about = meaning(key, LABEL_SCHEDULER_NAME);
    return [{ rule: 'SchedulerMisspelt', path: keyed(`${path}.labels`, key), about }];
  });
  const misplaced =
    keysOf(metadata, 'annotations').includes(LABEL_SCHEDULER_NAME) && !labels.includes(LABEL_SCHEDULER_NAME);
  const at = keyed(`${path}.annotations`, LABEL_SCHEDULER_NAME);
  return [
    ...misspelt,
    ...(misplaced ? [{ rule: 'LabelAsAnnotation', path: at, about: LABEL_SCHEDULER_NAME } as const] : []),
    ...ownKeySlips(metadata, path),
  ];
}

/** Compares only the name: the prefix, which all keys have, would make any two keys similar. */
function nearestOwn(key: string): string | undefined {
  const names = Object.keys(ownKeys).map((one) => one.slice(MUSTER_PREFIX.length));
  const near = nearestKey(key.slice(MUSTER_PREFIX.length), names);
  return near === undefined ? undefined : `${MUSTER_PREFIX}${near}`;
}

/**
 * Mistakes in the labels and annotations of a workload, and of objects between it and a template (the Job of a CronJob or a
 * JobSet), when the Pods do not get the label.
 */
function workloadSlips(object: JsonObject, templates: readonly PodTemplate[]): LabelSlip[] {
  const labels = templates.map(({ template }) => keysOf(own(template, 'metadata'), 'labels'));
  const asks = (key: string): boolean => labels.some((keys) => keys.includes(key));
  const around = new Set(['', ...templates.flatMap(({ path }) => above(path))]);
  return [...around].flatMap((at) => {
    const metadata = own(at === '' ? object : valueAt(object, stepsOf(at)), 'metadata');
    const path = at === '' ? 'metadata' : `${at}.metadata`;
    const onWorkload = (['labels', 'annotations'] as const).flatMap((map) =>
      keysOf(metadata, map).flatMap((key): LabelSlip[] => {
        const meant = key === LABEL_POD_GANG ? LABEL_POD_GANG : gangMeant(key);
        if (meant === undefined || asks(meant)) return [];
        const about = key === meant ? key : meaning(key, meant);
        return [{ rule: 'LabelOnWorkload', path: keyed(`${path}.${map}`, key), about }];
      }),
    );
    const told = new Set(onWorkload.map((slip) => slip.path));
    return [...onWorkload, ...ownKeySlips(metadata, path).filter((slip) => !told.has(slip.path))];
  });
}

/** All mistakes in the keys of one workload. */
export const slipsOfWorkload = (object: JsonObject, templates: readonly PodTemplate[]): LabelSlip[] => [
  ...templates.flatMap(({ template, path }) => podSlips(own(template, 'metadata'), `${path}.metadata`)),
  ...workloadSlips(object, templates),
];

/** Paths of the objects with metadata around a template: `spec.jobTemplate` for `spec.jobTemplate.spec.template`. */
const above = (path: string): string[] =>
  [...path.matchAll(/\.spec(?=\.|$)/g)].flatMap(({ index }) => (index > 0 ? [path.slice(0, index)] : []));

/** Splits the path of a template into steps. */
const stepsOf = (place: string): Path =>
  [...place.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)].map(([, inside, plain = '']) =>
    inside === undefined ? plain : /^\d+$/.test(inside) ? Number(inside) : inside,
  );

const keysOf = (metadata: Json | undefined, map: 'labels' | 'annotations'): string[] => {
  const found = own(metadata, map);
  return isObject(found) ? Object.keys(found) : [];
};

const meaning = (key: string, meant: string | undefined): string =>
  meant === undefined ? quoted(key) : `${quoted(key)} (did you mean "${meant}"?)`;

/** `muster.dev/gang` when the key is that label or a misspelling of it; undefined for every other key. */
const gangMeant = (key: string): string | undefined =>
  key === LABEL_GANG || labelMeant(key) === LABEL_GANG ? LABEL_GANG : undefined;

/** The label of Muster or Grove that `key` misspells; undefined when it is one of them or somebody else's. */
function labelMeant(key: string): string | undefined {
  // Fast path: most keys of most Pods contain none of these words.
  if (key.length > 64 || !/pod|gang|clique|sched|grove|muster/i.test(key)) return undefined;
  if (POD_LABELS.includes(key) || Object.hasOwn(ownKeys, key)) return undefined;
  const [prefix, name] = key.includes('/') ? (key.split('/', 2) as [string, string]) : ['', key];
  return POD_LABELS.find((ours) => {
    const [owner, word] = ours.split('/', 2) as [string, string];
    // A word such as gang without a prefix may belong to anybody.
    const sameOwner = owner === 'grove.io' ? prefix === '' || /grove/i.test(prefix) : /muster/i.test(prefix);
    return (
      editDistance(key.toLowerCase(), ours) <= 2 ||
      (sameOwner && bare(name) === bare(word)) ||
      bare(key) === bare(ours)
    );
  });
}

const bare = (name: string): string => name.toLowerCase().replaceAll(/[-_./]/g, '');
