import { LABEL_POD_GANG } from '../../api/names.ts';
import type { JsonObject } from '../../json/json.ts';
import { ENVIRONMENT, MANAGED_FIELDS } from '../../json/unread-lists.ts';
import type { GangRecord, NamespaceRecord, PodRecord } from '../../gang/records.ts';
import { readGangRecord, readNamespaceRecord } from '../../gang/read-records.ts';
import type { KubeClient, Selection } from '../../kube/client/client.ts';
import { NAMESPACES, POD_GANGS, PODS, type KubeObject, type Resource } from '../../kube/client/resources.ts';
import { keyOf, type ObjectChange, type Store } from '../../kube/loop/cache.ts';
import type { GangKind } from '../../workloads/kind.ts';
import { readMemberPod, BY_BASE_GANG, BY_GANG, POD_INDEXERS, type GangView } from './gang-view.ts';
import type { CacheMemory } from '../../kube/loop/cache-memory.ts';
import { Reflector } from '../../kube/loop/reflector.ts';
import type { ReflectorObserver } from '../../kube/loop/reflector-options.ts';
import { Watches } from '../../kube/loop/watches.ts';
import { MEMBER_POD_FIELDS } from './member-pod-fields.ts';
import { SharedValues } from './shared-values.ts';

/** @param change the event, when it was one of the gang or of one of its Pods */
export type TouchHandler = (key: string, change?: ObjectChange<GangRecord> | ObjectChange<PodRecord>) => void;

/** Events of PodGangs and of the Pods that name one. */
export interface GangWatch {
  readonly view: GangView;
  /** For the manager, which starts them, stops them and waits for their first lists. */
  readonly watches: Watches;
  /** Called with the key (`namespace/name`) of a gang at every event that may change what has to be done for it. */
  onTouch(handler: TouchHandler): void;
  /** Calls the handlers of `onTouch` for a change that no watch shows. */
  touch(key: string): void;
  /** Called for changes of PodGangs; existing PodGangs are passed as added on subscription. */
  onGang(handler: (change: ObjectChange<GangRecord>) => void): void;
  onPod(handler: (change: ObjectChange<PodRecord>) => void): void;
  /** Called with the key of a gang whose Namespace changed in a field that selects its backend. */
  onPlace(handler: (key: string) => void): void;
  /** Keys of all PodGangs and of all gangs that a Pod names. */
  keys(): Iterable<string>;
}

/**
 * @param given namespace to restrict the watches to (default: all); the Namespaces, for an account that may not watch
 *   them (default: watched too); kinds of workload whose Pods may ask for a gang (default: the built-in kinds); what reads
 *   the GPUs of a Pod (default: they are not read)
 */
export function watchGangs(
  client: KubeClient,
  observe: (resource: Resource) => ReflectorObserver,
  {
    namespace,
    namespaces: known,
    room,
    gangKinds,
    gpusOf,
  }: Pick<Selection, 'namespace'> & {
    readonly namespaces?: Store<NamespaceRecord>;
    readonly room?: CacheMemory;
    readonly gangKinds?: readonly GangKind[] | undefined;
    readonly gpusOf?: (pod: JsonObject) => number;
  } = {},
): GangWatch {
  const shared = new SharedValues();
  const pods = new Reflector<PodRecord>({
    client,
    resource: PODS,
    namespace,
    labelSelector: LABEL_POD_GANG,
    unread: [MANAGED_FIELDS, ENVIRONMENT],
    // GPUs are in many fields.
    ...(gpusOf === undefined && { fields: MEMBER_POD_FIELDS }),
    trim: (object) => {
      const pod = shared.pod(readMemberPod(asJson(object), gangKinds));
      return gpusOf === undefined ? pod : { ...pod, gpus: gpusOf(asJson(object)) };
    },
    indexers: POD_INDEXERS,
    room,
    observer: observe(PODS),
  });
  const gangs = new Reflector<GangRecord>({
    client,
    resource: POD_GANGS,
    namespace,
    trim: (object) => shared.gang(readGangRecord(asJson(object))),
    room,
    observer: observe(POD_GANGS),
  });
  // Namespaces are cached whole: they hold little beside their metadata.
  const namespaces =
    known === undefined
      ? new Reflector<NamespaceRecord>({
          client,
          resource: NAMESPACES,
          trim: (object) => readNamespaceRecord(asJson(object)),
          observer: observe(NAMESPACES),
        })
      : { store: known };
  const view: GangView = {
    pods: pods.store,
    gangs: gangs.store,
    namespaces: namespaces.store,
    ...(room && { standstill: (of: string) => room.why(of) }),
  };
  const keys = function* (): Generator<string, void> {
    yield* view.pods.indexValues(BY_GANG);
    for (const gang of view.gangs.values()) yield keyOf(gang.namespace, gang.name);
  };
  const handlers: TouchHandler[] = [];
  const placeHandlers: ((key: string) => void)[] = [];
  const touch: TouchHandler = (key, change) => {
    for (const handler of handlers) handler(key, change);
  };
  const touchDependents = (base: string): void => {
    const waiting = view.pods.byIndex(BY_BASE_GANG, base);
    for (const key of new Set(waiting.map((pod) => keyOf(pod.namespace, pod.gang)))) touch(key);
  };
  const placeChanged = (name: string): void => {
    for (const key of keys()) {
      if (!key.startsWith(`${name}/`)) continue;
      for (const handler of placeHandlers) handler(key);
      touch(key);
    }
  };
  pods.subscribe((change) => {
    const { old, new: now } = change;
    const pod = now ?? old;
    const key = keyOf(pod.namespace, pod.gang);
    if (pod.gang !== '') touch(key, change);
    if (old !== undefined && old.gang !== '' && old.gang !== pod.gang) touch(keyOf(old.namespace, old.gang));
    if (countsForDependents(change)) touchDependents(key);
  });
  gangs.subscribe((change) => {
    const gang = change.new ?? change.old;
    const key = keyOf(gang.namespace, gang.name);
    touch(key, change);
    touchDependents(key);
  });
  if (namespaces instanceof Reflector) {
    namespaces.subscribe((change) => {
      // Before the first list no gang has been judged, and the first pass judges them all.
      if (!namespaces.hasSynced || !countsForGangs(change)) return;
      placeChanged((change.new ?? change.old).name);
    });
  }
  room?.onTurn(placeChanged);
  return {
    view,
    watches: new Watches([pods, gangs, ...(namespaces instanceof Reflector ? [namespaces] : [])]),
    onTouch: (handler) => {
      handlers.push(handler);
    },
    touch: (key) => touch(key),
    onGang: (handler) => {
      gangs.subscribe(handler);
    },
    onPod: (handler) => {
      pods.subscribe(handler);
    },
    onPlace: (handler) => {
      placeHandlers.push(handler);
    },
    keys,
  };
}

/** Whether a gang that depends on this Pod's gang may have to proceed or wait again. */
const countsForDependents = ({ old, new: now }: ObjectChange<PodRecord>): boolean =>
  old?.nodeName !== now?.nodeName ||
  old?.phase !== now?.phase ||
  old?.deletionTimestamp !== now?.deletionTimestamp;

/** Whether a field of the Namespace changed that decides about its gangs; its status does not. */
const countsForGangs = ({ old, new: now }: ObjectChange<NamespaceRecord>): boolean =>
  old === undefined ||
  now === undefined ||
  old.deletionTimestamp !== now.deletionTimestamp ||
  !sameEntries(old.labels, now.labels) ||
  !sameEntries(old.annotations, now.annotations);

const sameEntries = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);

/** The raw object: its declared type lists only the fields that clients use. */
const asJson = (object: KubeObject): JsonObject => object as unknown as JsonObject;
