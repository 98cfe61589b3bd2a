import { isObject, own, ownList, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import { templatesOf } from '../workloads/components.ts';
import { fieldOf, path, valueAt, type Path } from '../workloads/path.ts';
import type { WorkloadKind } from '../workloads/workload-kind.ts';
import { WorkloadReading } from '../workloads/workload-reading.ts';
import { minimumCaps } from './minimum-caps.ts';
import { withEdits, type Edit } from './object-edits.ts';

/**
 * Edits that copy into `desired` the fields that the member cluster's object `observed` has to keep: minimums that were
 * revised for that cluster, references and defaults that its controllers wrote, and fields that a queue added to templates
 * when it admitted the job. A minimum never stays above the number of Pods; when the number of Pods in the cluster has
 * changed, it also never stays below the cluster's share of the gang's minimum.
 */
export function retainedEdits(desired: JsonObject, observed: JsonObject, kind: WorkloadKind): Edit[] {
  const { kept } = kind;
  const edits: Edit[] = [];
  const take = (at: Path, value: Json): void => void edits.push({ path: at, value });
  const pairsOf = (pattern: string): Pair[] => pairs(desired, observed, path(pattern));
  const shares = sharesOf(desired, observed, kind);
  const isBelowShare = (at: Path, has: Json, wanted: Json | undefined): boolean =>
    typeof has === 'number' && typeof wanted === 'number' && has < wanted && shares.has(fieldOf(at));
  const scaled = kept.scaled !== undefined && valueAt(desired, path(kept.scaled.flag)) === true;
  for (const { at, wanted, has } of [...kept.always, ...(scaled ? (kept.scaled?.paths ?? []) : [])].flatMap(
    pairsOf,
  ))
    if (isGiven(has) && !same(has, wanted) && !isBelowShare(at, has, wanted)) take(at, has);
  for (const { at, wanted, has } of kept.filled.flatMap(pairsOf))
    if ((!isGiven(wanted) || wanted === '') && isGiven(has)) take(at, has);
  for (const { at, wanted, has } of kept.templates.flatMap(pairsOf))
    if (isObject(wanted) && isObject(has)) inTemplate(wanted, has, at, take);
  if (edits.length === 0) return [];
  return [...edits, ...minimumCaps(withEdits(desired, edits), kind)];
}

/**
 * Paths of the minimum of a gang that may be divided, when its number of Pods in this cluster has changed. The desired
 * minimum is the share for the new number; with older, lower minimums the clusters together could start fewer Pods than the
 * gang needs.
 */
function sharesOf(desired: JsonObject, observed: JsonObject, kind: WorkloadKind): ReadonlySet<string> {
  const [wanted, ...others] = templatesOf(desired, kind, new WorkloadReading(desired));
  const [has] = templatesOf(observed, kind, new WorkloadReading(observed));
  if (wanted?.count === undefined || others.length > 0 || wanted.replicas === has?.replicas) return new Set();
  const total = kind.totalMinimum === undefined ? [] : [path(kind.totalMinimum)];
  return new Set([...(wanted.minimum === undefined ? [] : [wanted.minimum.path]), ...total].map(fieldOf));
}

const isGiven = (value: Json | undefined): value is Exclude<Json, null> =>
  value !== undefined && value !== null;

interface Pair {
  /** Path in the desired object. */
  readonly at: Path;
  readonly wanted: Json | undefined;
  readonly has: Json | undefined;
}

/** The values of a field in both objects. List items correspond by name, or by position when they have no name. */
function pairs(desired: JsonObject, observed: JsonObject, pattern: Path): Pair[] {
  let found: Pair[] = [{ at: [], wanted: desired, has: observed }];
  for (const step of pattern) {
    found = found.flatMap(({ at, wanted, has }): Pair[] => {
      if (step !== '*')
        return [{ at: [...at, step], wanted: valueAt(wanted, [step]), has: valueAt(has, [step]) }];
      if (Array.isArray(wanted)) {
        return (wanted as readonly Json[]).map((item, index) => ({
          at: [...at, index],
          wanted: item,
          has: counterpart(item, index, has),
        }));
      }
      return isObject(wanted)
        ? Object.keys(wanted).map((key) => ({ at: [...at, key], wanted: wanted[key], has: own(has, key) }))
        : [];
    });
  }
  // Fields that the member's object lacks are not retained.
  return found.filter(({ at, has }) => has !== undefined && at.length > 0);
}

const nameOf = (item: Json | undefined): string | undefined =>
  ownString(item, 'name') || ownString(item, 'groupName') || undefined;

function counterpart(item: Json, index: number, has: Json | undefined): Json | undefined {
  if (!Array.isArray(has)) return undefined;
  const list = has as readonly Json[];
  const name = nameOf(item);
  return name === undefined ? list[index] : list.find((one) => nameOf(one) === name);
}

/** Copies keys that only the member's template has, and appends its additional tolerations. */
function inTemplate(
  wanted: JsonObject,
  has: JsonObject,
  at: Path,
  take: (at: Path, value: Json) => void,
): void {
  for (const map of ['metadata.labels', 'metadata.annotations', 'spec.nodeSelector']) {
    const before = valueAt(wanted, path(map));
    const now = valueAt(has, path(map));
    for (const key of isObject(now) ? Object.keys(now) : []) {
      if (own(before, key) === undefined) take([...at, ...path(map), key], (now as JsonObject)[key] ?? null);
    }
  }
  const asked = ownList(ownObject(wanted, 'spec'), 'tolerations') ?? [];
  const more = (ownList(ownObject(has, 'spec'), 'tolerations') ?? []).filter(
    (one) => !asked.some((other) => same(one, other)),
  );
  if (more.length > 0) take([...at, 'spec', 'tolerations'], [...asked, ...more]);
}

const same = (a: Json, b: Json | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);
