import { isObject, type Json, type JsonObject } from '../../json/json.ts';
import { keyed, quoted } from '../../text/printable.ts';
import { suggestion } from '../../text/nearest-key.ts';

/** Known keys of an object, with the keys below each; `true` for a value that is not checked. */
interface Fields {
  readonly [key: string]: Fields | true;
}

const NAMESPACED_NAME: Fields = { namespace: true, name: true };
const TOPOLOGY: Fields = { packConstraint: { required: true, preferred: true } };

/**
 * Every field of a PodGang, `scheduler.grove.io/v1alpha1`. The API server silently drops a field that its schema lacks, and
 * the gang then waits for groups that it does not have.
 */
const POD_GANG: Fields = {
  apiVersion: true,
  kind: true,
  metadata: true,
  status: true,
  spec: {
    podgroups: {
      name: true,
      minReplicas: true,
      podReferences: NAMESPACED_NAME,
      topologyConstraint: TOPOLOGY,
    },
    topologyConstraint: TOPOLOGY,
    topologyConstraintGroupConfigs: { name: true, podGroupNames: true, topologyConstraint: TOPOLOGY },
    priorityClassName: true,
    reuseReservationRef: NAMESPACED_NAME,
  },
};

export interface UnknownField {
  readonly path: string;
  readonly message: string;
}

/** The fields of a PodGang that the API server would drop, each with the field that was probably meant. */
export const unknownPodGangFields = (object: JsonObject): UnknownField[] => [
  ...unknownIn(object, POD_GANG, ''),
];

function* unknownIn(value: Json, fields: Fields, path: string): Generator<UnknownField> {
  if (Array.isArray(value)) {
    for (const [index, item] of (value as readonly Json[]).entries()) {
      yield* unknownIn(item, fields, `${path}[${index}]`);
    }
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const known = Object.hasOwn(fields, key) ? fields[key] : undefined;
      const at = /^[\w-]+$/.test(key) ? (path === '' ? key : `${path}.${key}`) : keyed(path, key);
      if (known === undefined) {
        const meant = suggestion(key, Object.keys(fields));
        yield {
          path: at,
          message: `unknown field ${quoted(key)}${meant}: the API server would drop it`,
        };
      } else if (known !== true) {
        yield* unknownIn(value[key] ?? null, known, at);
      }
    }
  }
}
