import { own, ownList, ownObject, ownString, type JsonObject } from '../../../json/json.ts';
import { BINDING_VERSION } from '../../../api/names.ts';
import { saying, RIGHTS_FIX, type Diagnosis, type Read } from '../diagnosis.ts';

export const BINDING_DEFINITIONS = [
  'resourcebindings.work.karmada.io',
  'clusterresourcebindings.work.karmada.io',
] as const;
export const QUEUE_DEFINITION = 'fleetqueues.muster.dev';

/** Fields of bindings that Muster reads or writes, and the consequence where the CustomResourceDefinition lacks one. */
const BINDING_FIELDS: Readonly<Record<string, string>> = {
  'spec.schedulerName': 'a policy cannot name Muster as its scheduler',
  'spec.suspension.scheduling': 'no binding can be held for a queue',
  'spec.components': 'of a workload with several templates nothing is known (Karmada 1.15 brings it)',
  'spec.schedulePriority': 'queues know no priority, only age',
  'spec.rescheduleTriggeredAt': 'nothing can be placed anew on demand',
  'spec.gracefulEvictionTasks': 'clusters that a gang is taken from are not known',
  'status.schedulerObservedGeneration': 'others do not see that a binding is placed',
  'status.lastScheduledTime': 'others do not see that a binding is placed',
  'status.conditions': 'nobody is told why a gang waits',
  'status.aggregatedStatus': 'no queue sees that a gang has come to its end',
};
/** Fields without which Muster cannot work in a fleet; without one of the others a part of its work is missing. */
const NEEDED = new Set(['spec.schedulerName', 'spec.suspension.scheduling', 'status.conditions']);
const QUEUE_FIELDS = [
  ...['spec.weight', 'spec.parent', 'spec.capacity', 'spec.hold'],
  ...[
    'status.releasing',
    'status.letThrough',
    'status.deficit',
    'status.ownDeficit',
    'status.conditions',
    'status.used',
  ],
  ...['status.overdueDeficit', 'status.ownOverdueDeficit'],
];
const APPLY_QUEUES = 'kubectl apply -k manifests/karmada/queues';

export interface FleetDefinitions {
  readonly bindings: readonly (readonly [name: string, read: Read<JsonObject>])[];
  readonly queue: Read<JsonObject>;
}

/**
 * Checks the CustomResourceDefinitions of a fleet.
 * @param queues `fleet.queues.enabled`; undefined where no configuration is known
 */
export const checkFleetDefinitions = (
  { bindings, queue }: FleetDefinitions,
  queues: boolean | undefined,
): readonly Diagnosis[] => [
  ...bindings.flatMap(([name, read]) => checkBinding(name, read)),
  ...checkQueue(queue, queues),
];

function checkBinding(name: string, read: Read<JsonObject>): Diagnosis[] {
  const say = saying('definitions', pluralOf(name));
  if (read.state === 'unread') return [say.notChecked(read.reason, RIGHTS_FIX)];
  if (read.state === 'absent')
    return [
      say.problem(`the API server does not know ${name}`, 'name Karmada’s API server with --kubeconfig'),
    ];
  const schema = schemaOf(read.value, BINDING_VERSION);
  if (schema === undefined)
    return [say.problem(`${name} does not serve ${BINDING_VERSION}`, 'upgrade Karmada: docs/fleet.md')];
  const lacking = Object.entries(BINDING_FIELDS).filter(([field]) => !knows(schema, field.split('.')));
  if (lacking.length > 0)
    return lacking.map(([field, effect]) => {
      const what = `${name} drops ${field}: ${effect}`;
      const fix = 'upgrade the definitions of Karmada';
      return NEEDED.has(field) ? say.problem(what, fix) : say.warning(what, fix);
    });
  const kept = knows(schema, ['spec', 'clusters', '*', 'components']);
  return [
    say.ok(
      kept
        ? `${BINDING_VERSION} is served, with all fields`
        : `${BINDING_VERSION} is served; spec.clusters[].components is dropped, so an annotation says it`,
    ),
  ];
}

function checkQueue(read: Read<JsonObject>, wanted: boolean | undefined): Diagnosis[] {
  const say = saying('definitions', pluralOf(QUEUE_DEFINITION));
  if (read.state === 'unread') return [say.notChecked(read.reason, RIGHTS_FIX)];
  if (read.state === 'absent')
    return wanted === true
      ? [say.problem(`the API server does not know ${QUEUE_DEFINITION}: nobody is let through`, APPLY_QUEUES)]
      : [];
  const schema = schemaOf(read.value, 'v1alpha1');
  if (schema === undefined) return [say.problem(`${QUEUE_DEFINITION} does not serve v1alpha1`, APPLY_QUEUES)];
  const lacking = QUEUE_FIELDS.filter((field) => !knows(schema, field.split('.')));
  return lacking.length === 0
    ? [say.ok('v1alpha1 is served, with all fields')]
    : [say.problem(`${QUEUE_DEFINITION} drops ${lacking.join(', ')}`, APPLY_QUEUES)];
}

const pluralOf = (definition: string): string => definition.split('.')[0] ?? definition;

/** The schema of a version that is served; undefined where there is none. */
function schemaOf(definition: JsonObject, version: string): JsonObject | undefined {
  const entry = (ownList(own(definition, 'spec'), 'versions') ?? []).find(
    (one) => ownString(one, 'name') === version && own(one, 'served') === true,
  );
  return entry === undefined ? undefined : (ownObject(own(entry, 'schema'), 'openAPIV3Schema') ?? {});
}

/** Whether the API server keeps a field; the step `*` stands for every item of a list. */
function knows(schema: JsonObject, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined || own(schema, 'x-kubernetes-preserve-unknown-fields') === true) return true;
  const next = step === '*' ? ownObject(schema, 'items') : ownObject(own(schema, 'properties'), step);
  return next !== undefined && knows(next, rest);
}
