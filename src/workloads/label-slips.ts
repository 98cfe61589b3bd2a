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

/** What may be wrong with a key, and what mends it. */
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

/** A slip in one object, where in it, and what is particular to it. */
export interface LabelSlip {
  readonly rule: keyof typeof labelSlips;
  readonly path: string;
  readonly about: string;
}

/** As one line, for whoever can say no more than that. */
export function slipText({ rule, path, about }: LabelSlip): string {
  const { says, fix } = labelSlips[rule];
  return `${printable(path)}: ${printable(about)}: ${says}; ${fix} [${rule}]`;
}

/** By which a Pod is of a gang, or of a backend. */
const POD_LABELS = [
  LABEL_POD_GANG,
  LABEL_POD_CLIQUE,
  LABEL_BASE_POD_GANG,
  LABEL_SCHEDULER_NAME,
  LABEL_GANG,
  MARK_GANG_PER,
];
/** Those without which it is of none. */
const MEMBERSHIP = [LABEL_POD_GANG, LABEL_POD_CLIQUE, LABEL_GANG];

/** Of the metadata of a Pod or of a Pod template. */
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

/** Keys with Muster's own prefix, wherever it is written: those that nobody reads, or not there. */
export function ownKeySlips(metadata: Json | undefined, path: string): LabelSlip[] {
  return (['labels', 'annotations'] as const).flatMap((map) =>
    keysOf(metadata, map).flatMap((key): LabelSlip[] => {
      if (!key.startsWith(MUSTER_PREFIX)) return [];
      const place = keyed(`${path}.${map}`, key);
      const as = Object.hasOwn(ownKeys, key) ? ownKeys[key] : undefined;
      if (as === 'annotation' && map === 'labels')
        return [{ rule: 'AnnotationAsLabel', path: place, about: key }];
      // A label where no Pod is concerned is told of by those who know what its Pods have.
      if (as !== undefined) return [];
      return [{ rule: 'KeyUnknown', path: place, about: meaning(key, nearestOwn(key)) }];
    }),
  );
}

/** Of the metadata of a PodGang: the one label that is read of it, and Muster's own keys. */
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

/** By the last part of the name: the prefix, which all have, would make any two of them near. */
function nearestOwn(key: string): string | undefined {
  const names = Object.keys(ownKeys).map((one) => one.slice(MUSTER_PREFIX.length));
  const near = nearestKey(key.slice(MUSTER_PREFIX.length), names);
  return near === undefined ? undefined : `${MUSTER_PREFIX}${near}`;
}

/**
 * Of a workload, where its Pods get no label of it: its own labels and annotations, and those of what stands between it and a
 * template (the Job of a CronJob, of a JobSet).
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

/** All slips in the keys of one workload. */
export const slipsOfWorkload = (object: JsonObject, templates: readonly PodTemplate[]): LabelSlip[] => [
  ...templates.flatMap(({ template, path }) => podSlips(own(template, 'metadata'), `${path}.metadata`)),
  ...workloadSlips(object, templates),
];

/** `spec.jobTemplate` of `spec.jobTemplate.spec.template`: what has metadata of its own. */
const above = (path: string): string[] =>
  [...path.matchAll(/\.spec(?=\.|$)/g)].flatMap(({ index }) => (index > 0 ? [path.slice(0, index)] : []));

/** A place as templates have it, step by step. */
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

/** `muster.dev/gang`, however it was written; undefined for another key of ours. */
const gangMeant = (key: string): string | undefined =>
  key === LABEL_GANG || labelMeant(key) === LABEL_GANG ? LABEL_GANG : undefined;

/** The label of ours that `key` was meant to be; undefined where it is one, or somebody else's. */
function labelMeant(key: string): string | undefined {
  // Most keys of most Pods: nothing in them sounds like ours.
  if (key.length > 64 || !/pod|gang|clique|sched|grove|muster/i.test(key)) return undefined;
  if (POD_LABELS.includes(key) || Object.hasOwn(ownKeys, key)) return undefined;
  const [prefix, name] = key.includes('/') ? (key.split('/', 2) as [string, string]) : ['', key];
  return POD_LABELS.find((ours) => {
    const [owner, word] = ours.split('/', 2) as [string, string];
    // Without a prefix a word such as gang is anybody's.
    const sameOwner = owner === 'grove.io' ? prefix === '' || /grove/i.test(prefix) : /muster/i.test(prefix);
    return (
      editDistance(key.toLowerCase(), ours) <= 2 ||
      (sameOwner && bare(name) === bare(word)) ||
      bare(key) === bare(ours)
    );
  });
}

const bare = (name: string): string => name.toLowerCase().replaceAll(/[-_./]/g, '');
