import { beforeEach, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import type { KubeObject } from '../../../../src/kube/client/resources.ts';
import type { OwnedObject } from '../../../../src/backends/cluster.ts';
import { GangObjects } from '../../../../src/controller/scheduler-objects/gang-objects.ts';
import { StillThere } from '../../../../src/controller/watch/shared.ts';
import { at, FakeObjects, refusal } from './fake-objects.ts';

const resource = { group: 'x.io', version: 'v1', plural: 'podgroups', kind: 'PodGroup', namespaced: true };
const gang = { namespace: 'ml', name: 'train', uid: 'uid-of-train' };
const { signal } = new AbortController();
const wanted: OwnedObject = { resource, name: 'train', labels: { a: '1' }, spec: { min: 3 } };

let server: FakeObjects;
let known: Map<string, JsonObject>;
let objects: GangObjects;

beforeEach(() => {
  server = new FakeObjects();
  known = new Map();
  objects = new GangObjects(
    server.client,
    { get: (_resource, _namespace, name) => known.get(name) },
    gang,
    signal,
  );
});

/** The cache catches up. */
const seen = (name = 'train'): void => {
  const object = server.of(name);
  if (object !== undefined) known.set(name, object);
};

describe('applying an object', () => {
  test('creates it with a controller reference and our label, then leaves it alone', async () => {
    expect(await objects.apply(wanted)).toBe('created');
    expect(server.of('train')).toMatchObject({
      metadata: {
        namespace: 'ml',
        labels: { a: '1', 'app.kubernetes.io/managed-by': 'muster' },
        ownerReferences: [
          {
            apiVersion: 'scheduler.grove.io/v1alpha1',
            kind: 'PodGang',
            name: 'train',
            uid: 'uid-of-train',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: { min: 3 },
    });
    seen();
    expect(await objects.apply(wanted)).toBe('unchanged');
    expect(server.calls).toEqual(['create train']);
  });

  test('of a body has no spec', async () => {
    expect(await objects.apply({ resource, name: 'files', spec: {}, body: { data: { a: '1' } } })).toBe(
      'created',
    );
    expect(server.of('files')).toMatchObject({ data: { a: '1' } });
    expect(server.of('files')).not.toHaveProperty('spec');
  });

  test('a cache that has not seen the creation costs two calls and changes nothing', async () => {
    await objects.apply(wanted);
    expect(await objects.apply(wanted)).toBe('unchanged');
    expect(server.calls).toEqual(['create train', 'create train', 'get train']);
  });

  test('what was just created is left alone without another call, although no watch has shown it', async () => {
    const kept: JsonObject[] = [];
    const writing = async (
      _: unknown,
      write: () => Promise<KubeObject>,
      created?: KubeObject,
    ): Promise<void> => {
      const { metadata } = await write();
      kept.push({ ...created, metadata: { ...created?.metadata, ...metadata } } as unknown as JsonObject);
    };
    objects = new GangObjects(server.client, { get: () => kept[0], writing }, gang, signal);
    expect(await objects.apply(wanted)).toBe('created');
    expect(await objects.apply(wanted)).toBe('unchanged');
    expect(server.calls).toEqual(['create train']);
    // A patch of it is conditional on what was created, and no creation.
    expect(await objects.apply({ ...wanted, spec: { min: 4 } })).toBe('updated');
    expect(server.of('train')).toMatchObject({ spec: { min: 4 } });
    expect(kept).toHaveLength(2);
  });

  test('patches what differs, on the condition that it is what was seen', async () => {
    await objects.apply(wanted);
    seen();
    expect(await objects.apply({ ...wanted, spec: { min: 4 } })).toBe('updated');
    expect(at(server.of('train'), 'spec')).toEqual({ min: 4 });
  });

  test('another writer in between: judged once more by what is there now', async () => {
    await objects.apply(wanted);
    seen();
    server.put('train', { ...server.of('train'), status: { phase: 'Inqueue' } });
    server.put('train', {
      ...server.of('train'),
      metadata: { ...(at(server.of('train'), 'metadata') as JsonObject), resourceVersion: '999' },
    });
    expect(await objects.apply({ ...wanted, spec: { min: 4 } })).toBe('updated');
    expect(server.of('train')).toMatchObject({ spec: { min: 4 }, status: { phase: 'Inqueue' } });
    expect(server.calls.slice(1)).toEqual(['patch train', 'get train', 'patch train']);
  });

  test('a conflict that lasts is the caller’s to try again', async () => {
    await objects.apply(wanted);
    seen();
    server.before = (call) => {
      if (call.startsWith('patch')) throw refusal(409, 'Conflict', 'modified');
    };
    await expect(objects.apply({ ...wanted, spec: { min: 4 } })).rejects.toThrow('409 Conflict');
  });

  test('deleted behind the cache’s back: made anew', async () => {
    await objects.apply(wanted);
    seen();
    server.objects.clear();
    expect(await objects.apply({ ...wanted, spec: { min: 4 } })).toBe('created');
  });

  test('puts our label back, without which it would not be watched', async () => {
    await objects.apply(wanted);
    const object = server.of('train') as JsonObject;
    server.put('train', { ...object, metadata: { ...(object['metadata'] as JsonObject), labels: {} } });
    expect(await objects.apply(wanted)).toBe('updated');
    expect(at(server.of('train'), 'metadata', 'labels')).toEqual({
      a: '1',
      'app.kubernetes.io/managed-by': 'muster',
    });
  });

  test.each([
    ['nobody’s', {}, 'PodGroup train exists and has no controller, so PodGang train cannot have it'],
    [
      'a Job’s',
      { ownerReferences: [{ kind: 'Job', name: 'j', uid: 'u', controller: true }] },
      'PodGroup train exists and belongs to Job j, so PodGang train cannot have it',
    ],
  ])('one of that name which is %s is never touched', async (_what, metadata, message) => {
    server.put('train', { metadata, spec: { min: 1 } });
    await expect(objects.apply(wanted)).rejects.toMatchObject({
      code: 'BACKEND_OBJECT_FOREIGN',
      message,
      fix: 'delete or rename that PodGroup, or give the PodGang another name',
    });
    expect(at(server.of('train'), 'spec')).toEqual({ min: 1 });
  });

  test.each(['its reference was taken off', 'it was left behind by an earlier PodGang of that name'])(
    'one without a controller that is provably Muster’s is taken back: %s',
    async (why) => {
      await objects.apply(wanted);
      const made = server.of('train') as JsonObject;
      const metadata = made['metadata'] as JsonObject;
      const theirs = { kind: 'Job', name: 'j', uid: 'u' };
      server.put('train', { ...made, metadata: { ...metadata, ownerReferences: [theirs] } });
      // The new gang does not know it, the old one sees the reference go.
      if (why.startsWith('its')) seen();
      expect(await objects.apply(wanted)).toBe('updated');
      expect(at(server.of('train'), 'metadata', 'ownerReferences')).toEqual([
        theirs,
        expect.objectContaining({ kind: 'PodGang', uid: gang.uid, controller: true }),
      ]);
      seen();
      expect(await objects.apply(wanted)).toBe('unchanged');
      await objects.remove(resource, 'train');
      expect(server.of('train')).toBeUndefined();
    },
  );

  test.each([
    ['label', { annotations: { 'muster.dev/applied': '{}' } }],
    ['record', { labels: { 'app.kubernetes.io/managed-by': 'muster' } }],
  ])('one without a controller and without our %s is not', async (_, metadata) => {
    server.put('train', { metadata, spec: { min: 1 } });
    await expect(objects.apply(wanted)).rejects.toThrow('exists and has no controller');
    await objects.remove(resource, 'train');
    expect(at(server.of('train'), 'spec')).toEqual({ min: 1 });
  });

  test('one of an earlier PodGang of the same name, or on its way out, is waited for', async () => {
    const owner = { kind: 'PodGang', name: 'train', uid: 'older', controller: true };
    server.put('train', { metadata: { ownerReferences: [owner] }, spec: {} });
    await expect(objects.apply(wanted)).rejects.toThrow(
      new StillThere('PodGroup train is of an earlier PodGang of that name: waiting for it to go'),
    );
    const finalizers = ['scheduling.k8s.io/podgroup-protection'];
    server.put('train', { metadata: { ownerReferences: [owner], finalizers }, spec: {} });
    await expect(objects.apply(wanted)).rejects.toThrow(
      'waiting for it to go, which Pods that name it keep it from (scheduling.k8s.io/podgroup-protection)',
    );
    // Not labelled as Muster's: whoever made it so has it.
    expect(server.of('train')).toBeDefined();
    const labels = { 'app.kubernetes.io/managed-by': 'muster' };
    server.put('train', { metadata: { ownerReferences: [owner], labels }, spec: {} });
    await expect(objects.apply(wanted)).rejects.toThrow('of an earlier PodGang of that name');
    expect(server.of('train')).toBeUndefined();
    expect(await objects.apply(wanted)).toBe('created');
    server.put('train', {
      metadata: {
        ownerReferences: [{ ...owner, uid: gang.uid }],
        deletionTimestamp: '2026-01-01T00:00:00Z',
      },
      spec: {},
    });
    await expect(objects.apply(wanted)).rejects.toThrow(
      new StillThere('PodGroup train is being deleted: it is made anew once it is gone'),
    );
  });

  test('what the API server refuses is the backend’s to hear', async () => {
    server.before = () => {
      throw refusal(422, 'Invalid', 'spec.min: must be positive');
    };
    await expect(objects.apply(wanted)).rejects.toThrow('spec.min: must be positive');
  });

  test('nothing is written any more once Muster gave up on the call', async () => {
    const ending = new AbortController();
    ending.abort(new Error('too late'));
    const late = new GangObjects(server.client, { get: () => undefined }, gang, ending.signal);
    await expect(late.apply(wanted)).rejects.toThrow('too late');
    await expect(late.remove(resource, 'train')).rejects.toThrow('too late');
    expect(server.calls).toEqual([]);
  });
});

describe('removing an object', () => {
  test('deletes what is ours, and only that', async () => {
    await objects.apply(wanted);
    seen();
    await objects.remove(resource, 'train');
    expect(server.of('train')).toBeUndefined();
    server.put('other', { spec: {} });
    await objects.remove(resource, 'other');
    await objects.remove(resource, 'nothing');
    expect(server.of('other')).toBeDefined();
  });

  test('takes off the finalizers that shall not keep it, and no others', async () => {
    await objects.apply(wanted);
    const metadata = {
      ...(server.of('train')?.['metadata'] as JsonObject),
      deletionTimestamp: '2026-01-01T00:00:00Z',
    };
    server.put('train', { spec: {}, metadata: { ...metadata, finalizers: ['a/waits', 'b/stays'] } });
    server.keeps.add('train');
    seen();
    await objects.remove(resource, 'train');
    expect(at(server.of('train'), 'metadata', 'finalizers')).toEqual(['a/waits', 'b/stays']);
    await objects.remove(resource, 'train', ['a/waits', 'not/there']);
    expect(at(server.of('train'), 'metadata', 'finalizers')).toEqual(['b/stays']);
    const before = server.calls.length;
    await objects.remove(resource, 'train', ['a/waits']);
    expect(server.calls.slice(before)).toEqual(['delete train', 'get train']);
    // One of the same name that came meanwhile is another.
    server.put('train', { spec: {}, metadata: { ...metadata, uid: 'another', finalizers: ['a/waits'] } });
    await objects.remove(resource, 'train', ['a/waits']);
    expect(at(server.of('train'), 'metadata', 'finalizers')).toEqual(['a/waits']);
  });

  test.each([
    ['is gone', undefined],
    ['is another by now', 'uid-of-the-next'],
  ])(
    'takes none off once its PodGang %s: Pods that run keep their objects until they end',
    async (_what, uid) => {
      await objects.apply(wanted);
      const metadata = { ...(server.of('train')?.['metadata'] as JsonObject), finalizers: ['a/waits'] };
      server.put('train', { spec: {}, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
      server.keeps.add('train');
      seen();
      server.podGangs.set('train', uid);
      await objects.remove(resource, 'train', ['a/waits']);
      expect(at(server.of('train'), 'metadata', 'finalizers')).toEqual(['a/waits']);
      server.podGangs.delete('train');
      await objects.remove(resource, 'train', ['a/waits']);
      expect(at(server.of('train'), 'metadata', 'finalizers')).toEqual([]);
    },
  );
});

describe('an object of the cluster', () => {
  const topology: OwnedObject = {
    resource: { ...resource, plural: 'topologies', kind: 'Topology', namespaced: false },
    name: 'levels',
    spec: { levels: [] },
  };
  const cluster = (): GangObjects =>
    new GangObjects(server.client, { get: () => undefined }, undefined, signal);

  test('has no owner, and is ours by its label', async () => {
    expect(await cluster().apply(topology)).toBe('created');
    expect(at(server.of('levels', ''), 'metadata', 'ownerReferences')).toBeUndefined();
    expect(await cluster().apply(topology)).toBe('unchanged');
    expect(server.calls).toEqual(['get levels', 'create levels', 'get levels']);
  });

  test('of somebody else’s making is not touched', async () => {
    server.put('levels', { spec: { levels: ['x'] } }, '');
    await expect(cluster().apply(topology)).rejects.toThrow(
      'Topology levels exists and has no controller, so Muster cannot have it',
    );
  });
});
