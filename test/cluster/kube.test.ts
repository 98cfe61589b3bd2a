import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { findConnection } from '../../src/kube/client/find-connection.ts';
import {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
} from '../../src/kube/client/errors.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { PODS, type KubeObject, type Resource, type Target } from '../../src/kube/client/resources.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';

const CONFIG_MAPS: Resource = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};

const configMap = (name: string, more: object = {}): KubeObject => ({
  metadata: { name, namespace: 'crew' },
  ...more,
});
const at = (name: string): Target => ({ resource: CONFIG_MAPS, namespace: 'crew', name });
const pod = (name: string): KubeObject => ({
  metadata: { name, namespace: 'crew' },
  spec: {
    containers: [{ name: 'main', image: 'example.test/none' }],
    schedulingGates: [{ name: 'example.test/ours' }, { name: 'example.test/theirs' }],
  },
});
const thrown = async (doing: Promise<unknown>): Promise<Error> =>
  doing.then(
    () => new Error('nothing was thrown'),
    (error: unknown) => error as Error,
  );

clusterSuite('the client, on a real API server', () => {
  let plane: ControlPlane;
  let client: KubeClient;

  beforeAll(async () => {
    plane = await startControlPlane();
    await plane.client.ok('POST', '/api/v1/namespaces', { metadata: { name: 'crew' } });
    client = createKubeClient(await findConnection({ kubeconfig: plane.kubeconfig }));
  }, 120_000);

  afterAll(async () => {
    await client?.close();
    await plane?.stop();
  });

  test('reads any path', async () => {
    expect(await client.read('/version')).toMatchObject({ gitVersion: plane.version });
  });

  test('creates, gets, patches, replaces and deletes', async () => {
    const created = await client.create(CONFIG_MAPS, configMap('log', { data: { a: '1', u: '☂ü' } }));
    expect(created).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { a: '1', u: '☂ü' } });
    expect(await client.get(at('log'))).toEqual(created);
    const patched = await client.mergePatch(at('log'), { data: { a: null, b: '2' } });
    expect(patched).toMatchObject({ data: { b: '2' } });
    const replaced = await client.replace(CONFIG_MAPS, { ...patched, data: { c: '3' } } as KubeObject);
    expect(replaced).toMatchObject({ data: { c: '3' } });
    await client.delete(at('log'));
    expect(isNotFound(await thrown(client.get(at('log'))))).toBe(true);
    expect(isNotFound(await thrown(client.delete(at('log'))))).toBe(true);
  });

  test('says why: a conflict, a failed test, a name that is taken, an invalid object', async () => {
    const read = await client.create(CONFIG_MAPS, configMap('contested'));
    const { resourceVersion, uid } = read.metadata;
    await client.mergePatch(at('contested'), { data: { by: 'somebody else' } });

    const late = await thrown(
      client.mergePatch(at('contested'), { metadata: { resourceVersion }, data: {} }),
    );
    expect(isConflict(late)).toBe(true);
    expect(late.message).toMatch(
      /^patch configmaps crew\/contested: 409 Conflict: Operation cannot be fulfilled/,
    );
    expect(isConflict(await thrown(client.replace(CONFIG_MAPS, read)))).toBe(true);
    const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
    expect(isConflict(await thrown(client.delete(at('contested'), { preconditions })))).toBe(true);

    const test = await thrown(
      client.jsonPatch(at('contested'), [{ op: 'test', path: '/metadata/uid', value: 'another' }]),
    );
    expect(isInvalid(test)).toBe(true);
    const again = await thrown(client.create(CONFIG_MAPS, configMap('contested')));
    expect(isAlreadyExists(again)).toBe(true);
    const wrong = await thrown(client.create(CONFIG_MAPS, configMap('Not_A_Name')));
    expect(isInvalid(wrong)).toBe(true);
    expect(wrong.message).toContain('RFC 1123');
  });

  test('lifts one gate, conditional on what was read, with an answer of metadata only', async () => {
    const { metadata } = await client.create(PODS, pod('gated'));
    const target = { resource: PODS, namespace: 'crew', name: 'gated' };
    const lift = [
      { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
      { op: 'remove', path: '/spec/schedulingGates/0' },
    ] as const;
    const answer = await client.jsonPatch(target, lift, { answer: 'metadata' });
    expect(answer.kind).toBe('PartialObjectMetadata');
    expect(answer.spec).toBeUndefined();
    expect(answer.metadata.resourceVersion).not.toBe(metadata.resourceVersion);
    expect((await client.get(target)).spec).toMatchObject({
      schedulingGates: [{ name: 'example.test/theirs' }],
    });
    expect(isInvalid(await thrown(client.jsonPatch(target, lift)))).toBe(true);
  });

  test('patches the status and nothing else', async () => {
    await client.create(PODS, pod('ill'));
    const target = { resource: PODS, namespace: 'crew', name: 'ill' };
    const patched = await client.patchStatus(target, {
      status: { message: 'ill' },
      spec: { nodeName: 'no' },
    });
    expect(patched).toMatchObject({ status: { message: 'ill' } });
    expect(patched.spec).not.toHaveProperty('nodeName');
  });

  test('writes nothing on a dry run, and signs its writes', async () => {
    await client.create(CONFIG_MAPS, configMap('dry'), { dryRun: true });
    expect(isNotFound(await thrown(client.get(at('dry'))))).toBe(true);
    const signed = await client.create(CONFIG_MAPS, configMap('signed', { data: { a: '1' } }), {
      fieldManager: 'muster-loop',
    });
    expect(JSON.stringify(signed.metadata)).toContain('"manager":"muster-loop"');
    await client.delete(at('signed'), { dryRun: true });
    expect((await client.get(at('signed'))).metadata.name).toBe('signed');
  });

  test('lists page by page', async () => {
    for (let n = 0; n < 5; n += 1)
      await client.create(CONFIG_MAPS, {
        metadata: { name: `p-${n}`, namespace: 'crew', labels: { p: 'y' } },
      });
    const names: string[] = [];
    let pages = 0;
    for (let token: string | undefined; ; pages += 1) {
      const page = await client.list(CONFIG_MAPS, { labelSelector: 'p=y', limit: 2, continue: token });
      names.push(...page.items.map(({ metadata }) => metadata.name));
      token = page.continue;
      if (token === undefined) break;
    }
    expect(pages).toBe(2);
    expect(names).toEqual(['p-0', 'p-1', 'p-2', 'p-3', 'p-4']);
  });

  test('watches: events as they come, and a bookmark before the end', async () => {
    const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace: 'crew' });
    await client.create(CONFIG_MAPS, configMap('seen'));
    await client.mergePatch(at('seen'), { data: { a: '☂' } });
    await client.delete(at('seen'));
    const seen: string[] = [];
    const watching = client.watch(CONFIG_MAPS, { namespace: 'crew', resourceVersion, timeoutSeconds: 10 });
    for await (const batch of watching) {
      for (const { type, object } of batch) seen.push(`${type} ${object.metadata.name ?? ''}`.trim());
      // Only what changes elsewhere is news that needs a bookmark: the API server sends none without.
      if (seen.length === 3)
        await client.create(CONFIG_MAPS, { metadata: { name: 'x', namespace: 'default' } });
    }
    expect(seen.slice(0, 3)).toEqual(['ADDED seen', 'MODIFIED seen', 'DELETED seen']);
    expect(new Set(seen.slice(3))).toEqual(new Set(['BOOKMARK']));
  });

  test('stops at once when it is told to', async () => {
    const reason = new Error('enough');
    const stop = new AbortController();
    const { resourceVersion } = await client.list(CONFIG_MAPS);
    const watching = client.watch(CONFIG_MAPS, {
      resourceVersion,
      timeoutSeconds: 60,
      signal: stop.signal,
    });
    const next = thrown(watching[Symbol.asyncIterator]().next());
    stop.abort(reason);
    expect(await next).toBe(reason);
    expect(await thrown(client.list(CONFIG_MAPS, { signal: stop.signal }))).toBe(reason);
  });

  test('tells who may not do what, and where the right comes from', async () => {
    const nobody = createKubeClient(
      await findConnection({ kubeconfig: await plane.kubeconfigFor('system:serviceaccount:crew:nobody') }),
    );
    const refused = await thrown(nobody.list(PODS, { namespace: 'crew' }));
    expect(isForbidden(refused)).toBe(true);
    expect(refused.message).toMatch(
      /^list pods: 403 Forbidden: pods is forbidden: User "system:serviceaccount:crew:nobody" cannot list resource "pods".* \(grant this right: manifests\//,
    );
    await nobody.close();
  });
});
