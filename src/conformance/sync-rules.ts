import { isDnsSubdomain } from '../k8s/name-syntax.ts';
import { messageOf } from '../errors.ts';
import type { Backend } from '../backends/backend.ts';
import type { OwnedObject } from '../backends/cluster.ts';
import { broken, type ConformanceRule } from './check.ts';
import { takenGang } from './gang-rules.ts';
import { MemoryCluster, removal, sync } from './memory-cluster.ts';
import type { StoredGang } from './sample-gangs.ts';
import type { Subject } from './subject.ts';

export interface Scene {
  readonly backend: Backend;
  readonly cluster: MemoryCluster;
  readonly gang: StoredGang;
  readonly applied: readonly OwnedObject[];
}

/** A gang that the backend accepts, under a given name. */
export async function gangFor(subject: Subject, place?: { namespace?: string; name?: string }) {
  const { backend } = await subject.enabled();
  const gang = takenGang(subject, backend, place);
  if ('rule' in gang) throw broken(`it refuses the gang: ${gang.field}: ${gang.message}`);
  return { backend, gang };
}

/** A cluster after the first sync of one gang. */
export async function synced(subject: Subject): Promise<Scene> {
  const { backend, gang } = await gangFor(subject);
  const cluster = new MemoryCluster();
  const applied = await sync(backend, cluster, gang);
  return { backend, cluster, gang, applied };
}

export const named = ({ resource, name }: OwnedObject): string => `${resource.kind} ${name}`;

/** The lines of a picture, one for each object. */
const objectsIn = (picture: string): string[] => (picture === '' ? [] : picture.split('\n'));

export const syncRules: readonly ConformanceRule<Subject>[] = [
  {
    name: 'sync-works',
    rule: 'syncPodGang() makes the objects of a gang that the backend takes, and ends',
    needs: ['takes-a-gang'],
    look: async (subject) => {
      try {
        const { applied } = await synced(subject);
        return applied.length === 0 ? 'it keeps no objects' : `it keeps ${applied.map(named).join(', ')}`;
      } catch (thrown) {
        throw broken(messageOf(thrown));
      }
    },
  },
  {
    name: 'sync-owns',
    rule: 'owns() lists every kind that syncPodGang() writes, so that changes are noticed; all are namespaced, as the gang that owns them is',
    needs: ['sync-works'],
    look: async (subject) => {
      const { backend, applied } = await synced(subject);
      const watched = new Set((backend.owns?.() ?? []).map(({ group, plural }) => `${plural}.${group}`));
      for (const { resource } of applied) {
        const { group, plural, kind, namespaced } = resource;
        if (!watched.has(`${plural}.${group}`)) throw broken(`it writes ${kind}, which owns() does not list`);
        if (!namespaced) throw broken(`${kind} is of the cluster: keep it in syncCluster()`);
      }
      return undefined;
    },
  },
  {
    name: 'sync-names',
    rule: 'objects have names that an object may have, for long names and names with dots too',
    needs: ['sync-works'],
    look: async (subject) => {
      for (const name of ODD_NAMES) {
        const { backend, gang } = await gangFor(subject, { name });
        for (const object of await sync(backend, new MemoryCluster(), gang)) {
          if (!isDnsSubdomain(object.name))
            throw broken(
              `PodGang ${name} has a ${object.resource.kind} ${JSON.stringify(object.name)}, which is no object’s name`,
            );
        }
      }
      return undefined;
    },
  },
  {
    name: 'sync-same',
    rule: 'the same gang gets the same objects from every replica',
    needs: ['sync-works'],
    look: async (subject) => {
      const [one, other] = [await synced(subject), await synced(subject)];
      if (JSON.stringify(one.applied) !== JSON.stringify(other.applied))
        throw broken(
          `two instances made from the same settings keep different objects: ${one.applied.map(named).join(', ')} and ${other.applied.map(named).join(', ')}`,
        );
      return undefined;
    },
  },
  {
    name: 'sync-writes-once',
    rule: 'a second syncPodGang() with nothing changed writes nothing',
    needs: ['sync-same'],
    look: async (subject) => {
      const { backend, cluster, gang } = await synced(subject);
      const before = cluster.writes.length;
      await sync(backend, cluster, gang);
      const more = cluster.writes.slice(before);
      if (more.length > 0) throw broken(`it wrote again: ${more.join(', ')}`);
      return undefined;
    },
  },
  {
    name: 'sync-keeps-foreign',
    rule: 'what others add to the objects stays: labels, annotations, fields, status',
    needs: ['sync-writes-once'],
    look: async (subject) => {
      const { backend, cluster, gang } = await synced(subject);
      cluster.edit((object) => withForeign(object as Writable));
      const [picture, before] = [cluster.picture(), cluster.writes.length];
      await sync(backend, cluster, gang);
      const more = cluster.writes.slice(before);
      if (more.length > 0 || cluster.picture() !== picture)
        throw broken(`it wrote over what another controller had added: ${more.join(', ')}`);
      return undefined;
    },
  },
  {
    name: 'delete-cleans',
    rule: 'onPodGangDelete() ends, also when called again with everything gone, and makes nothing',
    needs: ['sync-works'],
    look: async (subject) => {
      const { backend, cluster, gang } = await synced(subject);
      for (const [when, place] of [
        ['', cluster],
        [' where nothing is left', new MemoryCluster()],
      ] as const) {
        const before = place.writes.length;
        await removal(backend, place, gang).catch((thrown: unknown) => {
          throw broken(`it fails${when}: ${messageOf(thrown)}`);
        });
        const made = place.writes.slice(before).filter((write) => !write.startsWith('delete '));
        if (made.length > 0) throw broken(`it wrote ${made.join(', ')}${when}`);
      }
      return undefined;
    },
  },
  {
    name: 'other-gangs',
    rule: 'each gang has objects of its own: syncing and deleting one leaves those of all others as they are',
    needs: ['sync-writes-once', 'delete-cleans'],
    look: async (subject) => {
      const cluster = new MemoryCluster();
      const { backend } = await gangFor(subject);
      for (const [namespace, name] of NEIGHBOURS) {
        const { gang } = await gangFor(subject, { namespace, name });
        const others = objectsIn(cluster.picture());
        await sync(backend, cluster, gang).catch((thrown: unknown) => {
          throw broken(`PodGang ${namespace}/${name} is in the way of another: ${messageOf(thrown)}`);
        });
        const now = new Set(objectsIn(cluster.picture()));
        if (others.some((line) => !now.has(line)))
          throw broken(`syncing ${namespace}/${name} changed the objects of another gang`);
      }
      for (const [namespace, name] of NEIGHBOURS) {
        const { gang } = await gangFor(subject, { namespace, name });
        const own = cluster.ownedBy(gang.uid).length;
        const before = objectsIn(cluster.picture()).length;
        await removal(backend, cluster, gang);
        const gone = before - objectsIn(cluster.picture()).length;
        if (gone > own - cluster.ownedBy(gang.uid).length)
          throw broken(`deleting ${namespace}/${name} took away objects of another gang`);
      }
      return undefined;
    },
  },
];

export const ODD_NAMES = ['a.b-c.d', '0', 'x'.repeat(63)];
/** Pairs of namespace and name that become equal when they are joined carelessly. */
const NEIGHBOURS = [
  ['ml', 'train'],
  ['web', 'train'],
  ['ml', 'train-worker'],
  ['ml', 'train.worker'],
  ['ml', 'ml.train'],
] as const;

type Writable = Record<string, unknown> & { metadata: Record<string, object>; spec: object };

const FOREIGN = { 'example.com/foreign': 'kept' };
const withForeign = (object: Writable) =>
  ({
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...object.metadata['labels'], ...FOREIGN },
      annotations: { ...object.metadata['annotations'], ...FOREIGN },
    },
    spec: { ...object.spec, foreign: { kept: true } },
    status: { phase: 'Running' },
  }) as never;
