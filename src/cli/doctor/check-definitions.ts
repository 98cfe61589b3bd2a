import { own, ownList, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { POD_GANG_GROUP, POD_GANG_VERSION } from '../../api/names.ts';
import { saying, RIGHTS_FIX, type Diagnosis, type Read } from './diagnosis.ts';

export const POD_GANG_DEFINITION = `podgangs.${POD_GANG_GROUP}`;
export const BACKEND_DEFINITION = 'schedulerbackends.muster.dev';

/**
 * Fields that Muster reads or writes; the API server drops fields that the CustomResourceDefinition lacks. A test compares
 * them.
 */
export const POD_GANG_FIELDS = {
  spec: [
    'podgroups',
    'priorityClassName',
    'reuseReservationRef',
    'topologyConstraint',
    'topologyConstraintGroupConfigs',
  ],
  group: ['minReplicas', 'name', 'podReferences', 'topologyConstraint'],
  status: ['conditions', 'lastReady', 'lastScheduled', 'phase', 'placementScore'],
} as const;

const APPLY = 'kubectl apply -k manifests/crds';

/** The CustomResourceDefinitions of Muster's objects. */
export interface Definitions {
  readonly podGang: Read<JsonObject>;
  readonly backend: Read<JsonObject>;
}

export const checkDefinitions = ({ podGang, backend }: Definitions): readonly Diagnosis[] => [
  ...check(POD_GANG_DEFINITION, POD_GANG_VERSION, podGang, lackingFields),
  ...check(BACKEND_DEFINITION, 'v1alpha1', backend, () => []),
];

function check(
  name: string,
  version: string,
  read: Read<JsonObject>,
  lacking: (schema: JsonObject | undefined) => readonly string[],
): Diagnosis[] {
  const say = saying('definitions', name);
  if (read.state === 'unread') return [say.notChecked(read.reason, RIGHTS_FIX)];
  if (read.state === 'absent') return [say.problem(`the cluster does not know ${name}`, APPLY)];
  const definition = read.value;
  const entry = (ownList(ownObject(definition, 'spec'), 'versions') ?? []).find(
    (candidate) => ownString(candidate, 'name') === version && own(candidate, 'served') === true,
  );
  if (entry === undefined) return [say.problem(`${name} does not serve ${version}`, APPLY)];
  if (ownObject(ownObject(entry, 'subresources'), 'status') === undefined) {
    return [say.problem(`${name} ${version} has no status of its own (subresources.status)`, APPLY)];
  }
  const fields = lacking(ownObject(ownObject(entry, 'schema'), 'openAPIV3Schema'));
  const dropped = `${name} ${version} does not know ${fields.join(', ')}: the API server drops it`;
  const status = fields.every((field) => field.startsWith('status.'));
  // An older Grove installs an older CustomResourceDefinition: missing status fields alone do not stop a gang.
  if (fields.length > 0) return [status ? say.warning(dropped, APPLY) : say.problem(dropped, APPLY)];
  const established = (ownList(ownObject(definition, 'status'), 'conditions') ?? []).some(
    (condition) =>
      ownString(condition, 'type') === 'Established' && ownString(condition, 'status') === 'True',
  );
  return established
    ? [say.ok(`${version} is served, with status and all fields`)]
    : [
        say.problem(
          `${name} is not established yet`,
          `kubectl describe crd ${name}: its conditions say what it waits for`,
        ),
      ];
}

function lackingFields(schema: JsonObject | undefined): string[] {
  const at = (value: JsonObject | undefined, key: string): JsonObject | undefined =>
    ownObject(ownObject(value, 'properties'), key);
  const spec = at(schema, 'spec');
  const group = ownObject(at(spec, 'podgroups'), 'items');
  const lacks = (value: JsonObject | undefined, path: string, fields: readonly string[]): string[] =>
    fields.filter((field) => at(value, field) === undefined).map((field) => `${path}${field}`);
  return [
    ...lacks(spec, 'spec.', POD_GANG_FIELDS.spec),
    ...lacks(group, 'spec.podgroups[].', POD_GANG_FIELDS.group),
    ...lacks(at(schema, 'status'), 'status.', POD_GANG_FIELDS.status),
  ];
}
