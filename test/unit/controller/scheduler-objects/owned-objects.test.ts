/** What of a gang's objects counts as touched: what others did, and not our own writes. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { OwnedObjects } from '../../../../src/controller/scheduler-objects/owned-objects.ts';
import type { KubeObject, Resource } from '../../../../src/kube/client/resources.ts';
import { until } from '../../tls/until.ts';
import { FakeCluster } from '../../kube/loop/fake-cluster.ts';

const LINES: Resource = { group: 'x.io', version: 'v1', plural: 'lines', kind: 'Line', namespaced: true };
const OTHERS: Resource = { ...LINES, plural: 'others', kind: 'Other' };
const target = { resource: LINES, namespace: 'ml', name: 'train' };
const line = (version: number, spec: object = { version }): KubeObject => ({
  metadata: {
    ...{ namespace: 'ml', name: 'train', uid: 'u', resourceVersion: String(version) },
    ownerReferences: [{ kind: 'PodGang', name: 'train', uid: 'g', controller: true }],
  },
  spec,
});

let cluster: FakeCluster;
let owned: OwnedObjects;
let listed: string[];
let changed: string[];
let said: string[];

beforeEach(async () => {
  cluster = new FakeCluster();
  [changed, said, listed] = [[], [], []];
  cluster.objects.set(LINES, [line(1)]);
  const observer = {
    changed: (gang: string) => void changed.push(gang),
    said: (gang: string) => void said.push(gang),
  };
  const observe = ({ kind }: Resource) => ({ listed: () => void listed.push(kind) });
  owned = new OwnedObjects(cluster.client, observe, observer);
  owned.watch(LINES);
  await owned.whenSynced([LINES], new AbortController().signal);
  [changed.length, said.length] = [0, 0];
});
afterEach(() => owned.stop());

const seen = async (version: number, spec?: object): Promise<void> => {
  const before = said.length;
  await cluster.tell(LINES, 'MODIFIED', line(version, spec));
  await until('it is seen', () => said.length > before);
};

test('what no PodGang controls is not held, whoever gave it the label, and hands back what had it before', async () => {
  const label = { 'app.kubernetes.io/managed-by': 'muster' };
  const metadata = { namespace: 'ml', name: 'anybodys', uid: 'a', resourceVersion: '5', labels: label };
  await cluster.tell(LINES, 'ADDED', { metadata });
  const ofPod = [{ kind: 'Pod', name: 'p', uid: 'p', controller: true, apiVersion: 'v1' }];
  await cluster.tell(LINES, 'ADDED', { metadata: { ...metadata, name: 'of-pod', ownerReferences: ofPod } });
  const bare = { ...line(6).metadata, ownerReferences: [] };
  await cluster.tell(LINES, 'MODIFIED', { metadata: bare });
  await until('the gang hears that its object was taken', () => changed.length > 0);
  expect(changed).toEqual(['ml/train']);
  for (const name of ['anybodys', 'of-pod', 'train']) expect(owned.get(LINES, 'ml', name)).toBeUndefined();
});

test('our own write is no touch, whether the watch or the answer comes first', async () => {
  await owned.writing(target, () => Promise.resolve(line(2)));
  await seen(2);
  expect(changed).toEqual([]);
  await owned.writing(target, async () => {
    await seen(3);
    return line(3);
  });
  expect(changed).toEqual([]);
  // Whoever comes next is somebody else.
  await seen(4);
  expect(changed).toEqual(['ml/train']);
});

test('what others did around it is one, and so is everything after a write that failed', async () => {
  await owned.writing(target, async () => {
    await seen(2);
    expect(changed).toEqual([]);
    await seen(3);
    return line(3);
  });
  expect(changed).toEqual(['ml/train']);
  await owned.writing(target, () => Promise.resolve(line(5)));
  await seen(4);
  await seen(5);
  expect(changed).toEqual(['ml/train', 'ml/train']);
  const failing = owned.writing(target, async () => {
    await seen(6);
    throw new Error('timeout');
  });
  await expect(failing).rejects.toThrow('timeout');
  expect(changed).toHaveLength(3);
});

describe('an object that was just created', () => {
  const create = (resourceVersion: string): Promise<void> => {
    const made = {
      metadata: { namespace: 'ml', name: 'new', ownerReferences: line(0).metadata.ownerReferences },
      spec: { size: 1 },
    } as KubeObject;
    const answer = { metadata: { ...line(0).metadata, name: 'new', resourceVersion } };
    return owned.writing({ ...target, name: 'new' }, () => Promise.resolve(answer), made);
  };
  const known = (): unknown => owned.get(LINES, 'ml', 'new');

  test('is known until the watch shows it', async () => {
    await create('7');
    expect(known()).toMatchObject({ spec: { size: 1 }, metadata: { uid: 'u', resourceVersion: '7' } });
    const shown = { ...line(9), metadata: { ...line(9).metadata, name: 'new' } };
    await cluster.tell(LINES, 'ADDED', shown);
    await until('it is seen', () => said.length > 0);
    expect(known()).toMatchObject({ spec: { version: 9 } });
    await cluster.tell(LINES, 'DELETED', shown);
    await until('it is gone', () => known() === undefined);
  });

  test('and is not in the next list may be gone unseen: its gang is synced again, and those of other kinds are not', async () => {
    owned.watch(OTHERS);
    await owned.whenSynced([OTHERS], new AbortController().signal);
    await create('7');
    [changed.length, said.length] = [0, 0];
    await cluster.expire(OTHERS);
    await until('they are listed again', () => listed.filter((kind) => kind === 'Other').length === 2);
    expect([changed, known()]).toEqual([[], expect.anything()]);
    await cluster.expire(LINES);
    await until('its gang is synced again', () => changed.length > 0);
    expect([changed, known()]).toEqual([['ml/train'], undefined]);
  });
});

test('a change of status alone is none, a deletion is', async () => {
  await seen(2, { version: 1 });
  expect(changed).toEqual([]);
  await cluster.tell(LINES, 'DELETED', line(3));
  await until('it is gone', () => changed.length > 0);
  expect(owned.get(LINES, 'ml', 'train')).toBeUndefined();
});

test('knows what a gang has of other kinds, of whatever version', () => {
  const names = (kinds: readonly Resource[]) =>
    Array.from(owned.besides(kinds, 'ml', 'train'), ({ resource, name }) => `${resource.kind} ${name}`);
  expect(names([OTHERS])).toEqual(['Line train']);
  expect(names([OTHERS, { ...LINES, version: 'v2' }])).toEqual([]);
});
