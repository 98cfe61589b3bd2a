import { createHmac, randomBytes } from 'node:crypto';
import { isObject, own, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { ANNOTATION_PREEMPTION_PRIORITY_CLASS } from '../../api/preemption-terms.ts';

/** Fields with a name as their text, anywhere in a trimmed object. */
const NAMES: ReadonlySet<string> = new Set([
  'name',
  'generateName',
  'namespace',
  'uid',
  'nodeName',
  'nominatedNodeName',
  'priorityClassName',
  'podGroupName',
  'claimName',
  'volumeName',
  'schedulerName',
  'value',
  'hostIP',
  ANNOTATION_PREEMPTION_PRIORITY_CLASS,
]);
/** Maps from label keys to label values. */
const LABELS: ReadonlySet<string> = new Set(['labels', 'matchLabels', 'nodeSelector']);
/** Lists of names or of label values. */
const LISTS: ReadonlySet<string> = new Set(['values', 'namespaces', 'podGroupNames']);
/** Lists of label keys. */
const KEY_LISTS: ReadonlySet<string> = new Set(['matchLabelKeys', 'mismatchLabelKeys']);
/**
 * Fields with the key of a label or taint as their text; `required` and `preferred` belong to the topology constraints of a
 * gang.
 */
const KEYS: ReadonlySet<string> = new Set(['key', 'topologyKey', 'required', 'preferred']);
/** Label keys with these prefixes are the same in every cluster, so they identify nobody. */
const COMMON = /(?:^|\.)(?:kubernetes\.io|k8s\.io|grove\.io|muster\.dev)\//;
const KEPT = /^(?:system-(?:node|cluster)-critical|default-scheduler|metadata\.name|)$/;

/**
 * Replaces names, label values and uncommon label keys by hashes. Equal texts get equal hashes within one snapshot and other
 * hashes in the next, so that references stay intact and names cannot be guessed by hashing them. Quantities, priorities and
 * times stay.
 */
export function anonymizer(salt: Buffer = randomBytes(32)): (object: JsonObject) => JsonObject {
  const hash = (text: string): string =>
    KEPT.test(text) ? text : `x${createHmac('sha256', salt).update(text).digest('hex').slice(0, 12)}`;
  const keyHash = (key: string): string => (COMMON.test(key) ? key : hash(key));

  const labels = (value: Json): Json =>
    isObject(value)
      ? Object.fromEntries(
          Object.entries(value).map(([key, text]) => [
            keyHash(key),
            typeof text === 'string' ? hash(text) : text,
          ]),
        )
      : value;

  const list = (value: Json, field: string, beside: JsonObject): Json => {
    // Values of Gt and Lt are compared as numbers, so they stay.
    const operator = ownString(beside, 'operator');
    if (!Array.isArray(value) || operator === 'Gt' || operator === 'Lt') return value;
    const one = KEY_LISTS.has(field) ? keyHash : hash;
    return (value as readonly Json[]).map((text) => (typeof text === 'string' ? one(text) : text));
  };

  const walk = (value: Json): Json => {
    if (Array.isArray(value)) return (value as readonly Json[]).map(walk);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([field, inner]) => {
        if (field === 'disruptedPods') return [field, keysHashed(inner, hash)];
        if (LABELS.has(field)) return [field, labels(inner)];
        if (LISTS.has(field) || KEY_LISTS.has(field)) return [field, list(inner, field, value)];
        if (KEYS.has(field) && typeof inner === 'string') return [field, keyHash(inner)];
        if (NAMES.has(field) && typeof inner === 'string') return [field, hash(inner)];
        return [field, walk(inner)];
      }),
    );
  };

  return (object) => {
    const { apiVersion = '', kind = '', ...rest } = withNamedClaims(object);
    return { apiVersion, kind, ...(walk(rest) as JsonObject) };
  };
}

const keysHashed = (value: Json, hash: (text: string) => string): Json =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [hash(key), inner]))
    : value;

/** Names the claim of an ephemeral volume before hashing: its name is made of the names of Pod and volume. */
function withNamedClaims(object: JsonObject): JsonObject {
  const spec = own(object, 'spec');
  const volumes = own(spec, 'volumes');
  if (!isObject(spec) || !Array.isArray(volumes)) return object;
  const pod = ownString(own(object, 'metadata'), 'name') ?? '';
  const named = (volumes as readonly Json[]).map((volume) =>
    own(volume, 'ephemeral') === undefined
      ? volume
      : { persistentVolumeClaim: { claimName: `${pod}-${ownString(volume, 'name') ?? ''}` } },
  );
  return { ...object, spec: { ...spec, volumes: named } };
}
