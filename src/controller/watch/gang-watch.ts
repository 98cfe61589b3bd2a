import { LABEL_POD_GANG } from '../../api/names.ts';
import type { JsonObject } from '../../api/json.ts';
import type { GangRecord, NamespaceRecord, PodRecord } from '../../gang/records.ts';
import { readGang, readNamespace, readPod } from '../../gang/read-records.ts';
import { SharedValues } from '../../gang/shared-values.ts';
import type { KubeClient, Selection } from '../../kube/client/client.ts';
import { NAMESPACES, POD_GANGS, PODS, type KubeObject, type Resource } from '../../kube/client/resources.ts';
import { keyOf, type Change, type Store } from '../../kube/loop/cache.ts';
import { BY_BASE_GANG, BY_GANG, POD_INDEXERS, type GangView } from './gang-view.ts';
import { Reflector } from '../../kube/loop/reflector.ts';
import type { ReflectorObserver } from '../../kube/loop/reflector-options.ts';

/** What happens to gangs and to Pods that claim one, as keys `namespace/name` of the gangs that need a look. */
export interface GangWatch {
  readonly view: GangView;
  /** Whether all caches were listed once. */
  readonly hasSynced: boolean;
  /** Names of the kinds that were not listed yet. */
  readonly missing: readonly string[];
  whenSynced(): Promise<void>;
  /** What happens to the PodGangs themselves; those that are there come as added at once. */
  onGang(handler: (change: Change<GangRecord>) => void): void;
  /** Every gang there is, and every one that some Pod claims. */
  keys(): Iterable<string>;
  start(): void;
  stop(): Promise<void>;
}

/**
 * @param look hears of a gang as often as something happens to it
 * @param given of one namespace only, default: all; the Namespaces, for whom may not watch them, default: watched, too
 */
export function watchGangs(
  client: KubeClient,
  look: (key: string) => void,
  observe: (resource: Resource) => ReflectorObserver,
  {
    namespace,
    namespaces: known,
  }: Pick<Selection, 'namespace'> & { readonly namespaces?: Store<NamespaceRecord> } = {},
): GangWatch {
  const shared = new SharedValues();
  const pods = new Reflector<PodRecord>({
    client,
    resource: PODS,
    namespace,
    labelSelector: LABEL_POD_GANG,
    trim: (object) => shared.pod(readPod(asJson(object))),
    indexers: POD_INDEXERS,
    observer: observe(PODS),
  });
  const gangs = new Reflector<GangRecord>({
    client,
    resource: POD_GANGS,
    namespace,
    trim: (object) => readGang(asJson(object)),
    observer: observe(POD_GANGS),
  });
  // Whole objects: a Namespace is little more than its metadata.
  const namespaces =
    known === undefined
      ? new Reflector<NamespaceRecord>({
          client,
          resource: NAMESPACES,
          trim: (object) => readNamespace(asJson(object)),
          observer: observe(NAMESPACES),
        })
      : { store: known };
  const view: GangView = { pods: pods.store, gangs: gangs.store, namespaces: namespaces.store };
  const keys = function* (): Generator<string, void> {
    yield* view.pods.indexValues(BY_GANG);
    for (const gang of view.gangs.values()) yield keyOf(gang.namespace, gang.name);
  };
  const lookAtDependents = (base: string): void => {
    const waiting = view.pods.byIndex(BY_BASE_GANG, base);
    for (const key of new Set(waiting.map((pod) => keyOf(pod.namespace, pod.gang)))) look(key);
  };
  pods.subscribe((change) => {
    for (const pod of new Set([change.old, change.new])) {
      if (pod !== undefined && pod.gang !== '') look(keyOf(pod.namespace, pod.gang));
    }
    if (!countsForDependents(change)) return;
    const pod = change.new ?? change.old;
    lookAtDependents(keyOf(pod.namespace, pod.gang));
  });
  gangs.subscribe((change) => {
    const gang = change.new ?? change.old;
    const key = keyOf(gang.namespace, gang.name);
    look(key);
    lookAtDependents(key);
  });
  if (namespaces instanceof Reflector) {
    namespaces.subscribe((change) => {
      // Before that nobody looks at gangs, and whoever begins to looks at all.
      if (!namespaces.hasSynced || !countsForGangs(change)) return;
      const { name } = change.new ?? change.old;
      for (const key of keys()) if (key.startsWith(`${name}/`)) look(key);
    });
  }
  const watched = new Map<
    Resource,
    Reflector<PodRecord> | Reflector<GangRecord> | Reflector<NamespaceRecord>
  >([
    [PODS, pods],
    [POD_GANGS, gangs],
    ...(namespaces instanceof Reflector ? [[NAMESPACES, namespaces] as const] : []),
  ]);
  const reflectors = [...watched.values()];
  return {
    view,
    get hasSynced() {
      return reflectors.every((reflector) => reflector.hasSynced);
    },
    get missing() {
      return [...watched].filter(([, { hasSynced }]) => !hasSynced).map(([{ plural }]) => plural);
    },
    whenSynced: async () => {
      await Promise.all(reflectors.map((reflector) => reflector.whenSynced()));
    },
    onGang: (handler) => {
      gangs.subscribe(handler);
    },
    keys,
    start: () => {
      for (const reflector of reflectors) reflector.start();
    },
    stop: async () => {
      await Promise.all(reflectors.map((reflector) => reflector.stop()));
    },
  };
}

/** Whether a gang that waits for this Pod's gang may go on or has to wait again. */
const countsForDependents = ({ old, new: now }: Change<PodRecord>): boolean =>
  old?.nodeName !== now?.nodeName ||
  old?.phase !== now?.phase ||
  old?.deletionTimestamp !== now?.deletionTimestamp;

/** Whether something changed of a Namespace that decides about its gangs; its status does not. */
const countsForGangs = ({ old, new: now }: Change<NamespaceRecord>): boolean =>
  old === undefined ||
  now === undefined ||
  old.deletionTimestamp !== now.deletionTimestamp ||
  !sameEntries(old.labels, now.labels) ||
  !sameEntries(old.annotations, now.annotations);

const sameEntries = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);

/** The raw object; its declared type only lists the fields that clients use. */
const asJson = (object: KubeObject): JsonObject => object as unknown as JsonObject;
