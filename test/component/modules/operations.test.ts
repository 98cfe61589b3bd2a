/** What a module does in its own process is what a backend does in this one. */
import { afterEach, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import type { ClusterProbe, OwnedObject, SyncContext } from '../../../src/backends/cluster.ts';
import { HOSTED } from '../../../src/backends/hosted.ts';
import { gangOf } from '../../support/made-backend.ts';
import { host, laterOf, moduleText, PATIENT, type Hosting } from './hosting.ts';

let hosting: Hosting | undefined;
afterEach(() => hosting?.close());

const start = async (parts: string, ofFactory = ''): Promise<Hosting> => {
  hosting = await host(moduleText(parts, '', ofFactory), PATIENT);
  await hosting.init();
  return hosting;
};

const LINES = { group: 'line.example.com', version: 'v1', plural: 'lines', kind: 'Line', namespaced: true };
const owns = `owns: () => [${JSON.stringify(LINES)}],`;

/** The callbacks of one sync, and what was done with them. */
function handsOf(given: Partial<SyncContext> = {}) {
  const done: unknown[] = [];
  const context: SyncContext = {
    signal: new AbortController().signal,
    pods: [],
    owned: () => [],
    apply: (object: OwnedObject) => {
      done.push(['apply', object]);
      return Promise.resolve('created');
    },
    remove: (resource, name, despite) => {
      done.push(['remove', resource.kind, name, despite]);
      return Promise.resolve();
    },
    read: (path) => Promise.resolve({ path }),
    warn: (message) => void done.push(['warn', message]),
    ...given,
  };
  return { context, done };
}

test('a gang is synced with the callbacks of Muster', async () => {
  const rights = `rights: [{ group: '', resources: ['nodes'], verbs: ['get'], why: 'their size' }],`;
  const parts = `${owns}
    releaseOrder: () => 'minimum-first',
    followsBinding: (gang) => gang.annotations.get('follows') === 'yes',
    syncPodGang: async (context, gang) => {
      const [line] = context.owned(${JSON.stringify(LINES)});
      const applied = await context.apply({ resource: ${JSON.stringify(LINES)}, name: gang.name, spec: {
        was: line.spec, pods: context.pods.map(({ name }) => name), queue: gang.labels.get('queue'),
        groups: gang.spec.groups.length, read: await context.read('/api/v1/nodes/one') } });
      context.warn('it was ' + applied);
      await context.remove(${JSON.stringify(LINES)}, 'old', ['example.com/keep']);
    },`;
  const { backend } = await start(parts, rights);
  const gang = gangOf({ labels: { queue: 'day' }, annotations: { follows: 'yes' } });
  // Before it has said so, the careful order.
  expect([backend.releaseOrder(gang), backend.followsBinding(gang)]).toEqual(['minimum-first', false]);
  const pod = { name: 'one', group: 'a', gates: [], nodeName: '' };
  const { context, done } = handsOf({ pods: [pod], owned: () => [{ spec: { minimum: 1 } }] });
  await backend.syncPodGang(context, gang);
  expect(done).toEqual([
    [
      'apply',
      {
        resource: LINES,
        name: gang.name,
        spec: {
          was: { minimum: 1 },
          pods: ['one'],
          queue: 'day',
          groups: gang.spec.groups.length,
          read: { path: '/api/v1/nodes/one' },
        },
      },
    ],
    ['warn', 'it was created'],
    ['remove', 'Line', 'old', ['example.com/keep']],
  ]);
  expect([backend.releaseOrder(gang), backend.followsBinding(gang)]).toEqual(['minimum-first', true]);
  await backend.onPodGangDelete(context, gang);
  expect(backend.followsBinding(gang)).toBe(false);
});

test('what its callbacks threw comes back as it was', async () => {
  const { backend } = await start(`${owns}
    syncPodGang: (context) => context.apply({ resource: ${JSON.stringify(LINES)}, name: 'x', spec: {} }),
    onPodGangDelete: async (context) => { throw new Error('not today'); },`);
  const conflict = Object.assign(new Error('the object has been modified'), { status: 409 });
  const { context } = handsOf({ apply: () => Promise.reject(conflict) });
  await expect(backend.syncPodGang(context, gangOf())).rejects.toBe(conflict);
  await expect(backend.onPodGangDelete(context, gangOf())).rejects.toThrow('not today');
});

test.each([
  [
    'a name that leads elsewhere',
    `context.apply({ resource: R, name: '../pods/x', spec: {} })`,
    'no name of an object',
  ],
  [
    'a kind that leads elsewhere',
    `context.apply({ resource: { ...R, plural: 'lines/../pods' }, name: 'x', spec: {} })`,
    'no kind of object',
  ],
  ['an object without a spec', `context.apply({ resource: R, name: 'x' })`, 'an object without a spec'],
  [
    'labels that are no texts',
    `context.apply({ resource: R, name: 'x', spec: {}, labels: { a: 1 } })`,
    'labels that are no texts',
  ],
  ['removal of no name', `context.remove(R, '..')`, 'no name of an object'],
  ['a path that leads elsewhere', `context.read('/api/v1/../../etc')`, 'no path of the API server'],
  ['a path with an encoded way', `context.read('/api/v1/%2e%2e/x')`, 'no path of the API server'],
  ['another host', `context.read('//example.com/')`, 'no path of the API server'],
  ['a URL', `context.read('http://example.com/')`, 'no path of the API server'],
  [
    'a Pod, which it does not declare',
    `context.read('/api/v1/namespaces/other/pods/p')`,
    "asked for /api/v1/namespaces/other/pods/p, which it does not declare: declare it in its factory's rights, with the verb get",
  ],
  [
    'an object that it does not keep',
    `context.apply({ resource: { ...R, group: '', plural: 'secrets', kind: 'Secret' }, name: 'x', spec: {} })`,
    'asked for secrets.core, which it does not declare',
  ],
  ['removal of one', `context.remove({ ...R, plural: 'others' }, 'x')`, 'asked for others.line.example.com'],
])('%s is refused before anybody is asked', async (_what, call, says) => {
  const { backend } = await start(
    `${owns} syncPodGang: async (context) => { const R = ${JSON.stringify(LINES)}; await ${call}; },`,
  );
  const { context, done } = handsOf({ read: () => Promise.reject(new Error('was asked')) });
  await expect(backend.syncPodGang(context, gangOf())).rejects.toThrow(says);
  expect(done).toEqual([]);
});

test('too many calls of its callbacks at a time end it, and too many warnings are not told', async () => {
  const { backend, ended } = await start(`
    syncPodGang: async (context) => { for (let i = 0; i < 40; i += 1) context.warn('w' + i); await context.read('/api'); },
    onPodGangDelete: (context) => Promise.all(Array.from({ length: 100 }, () => context.read('/api'))),`);
  const { context, done } = handsOf();
  await backend.syncPodGang(context, gangOf());
  expect(done).toHaveLength(20);
  const slow = handsOf({ read: () => new Promise(() => undefined) });
  const reason = 'it asked for more than 64 things at a time';
  await expect(backend.onPodGangDelete(slow.context, gangOf())).rejects.toThrow(reason);
  expect(ended).toEqual([reason]);
});

test('a sync that is given up ends in the module too', async () => {
  const { backend, prepare } = await start(`
    syncPodGang: (context) => new Promise((_, reject) => context.signal.addEventListener('abort', () => { globalThis.gaveUp = true; reject(new Error('late')); })),
    preparePod: (_pod, _gang, patch) => patch.annotate('a', String(globalThis.gaveUp), 'shown'),`);
  const ending = new AbortController();
  const { context } = handsOf({ signal: ending.signal });
  const synced = backend.syncPodGang(context, gangOf());
  ending.abort(new Error('enough'));
  await expect(synced).rejects.toThrow('enough');
  expect((await prepare()).at(-1)).toMatchObject({ operation: { value: { a: 'true' } } });
});

test('the cluster is looked at through Muster', async () => {
  hosting = await host(
    moduleText(`init: async ({ cluster }) => ({
      version: (await cluster.versions('line.example.com')).join(),
      notices: [JSON.stringify(await cluster.crdSchema('lines.line.example.com', 'v1')), JSON.stringify(await cluster.read('/apis/line.example.com') ?? 'nothing'), await cluster.read('/api/v1/pods').catch(({ message }) => message)],
    }), ${owns}`),
    PATIENT,
  );
  const cluster: ClusterProbe = {
    versions: (group) => Promise.resolve([`${group}/v1`]),
    resources: () => Promise.resolve([]),
    crdSchema: () => Promise.resolve({ type: 'object' }),
    read: () => Promise.resolve(undefined),
    dryRunCreate: () => Promise.reject(new Error('not asked for')),
  };
  expect(await hosting.init(cluster)).toEqual({
    version: 'line.example.com/v1',
    notices: [
      '{"type":"object"}',
      '"nothing"',
      "the module asked for /api/v1/pods, which it does not declare: declare it in its factory's rights, with the verb list",
    ],
  });
  expect(hosting.backend.owns()).toEqual([LINES]);
  expect(hosting.backend.schedulerName).toBe('mine-for-pods');
});

test('it says what is wrong with a gang, and what a change will not do', async () => {
  const { backend } = await start(`
    validatePodGang: ({ name, spec }) => ({ faults: [{ rule: 'BackendCannotExpress', field: 'spec', reason: 'FieldValueInvalid', message: 'too many groups' }], warnings: [name + spec.groups.length] }),
    warnOfUpdate: (before, after) => [before.name + ' stays'],`);
  const [gang, hosted] = [gangOf(), backend[HOSTED]];
  const says = await hosted.ofGang(gang, gang, 10_000);
  expect(says.validatePodGang(gang)).toEqual({
    faults: [
      {
        rule: 'BackendCannotExpress',
        field: 'spec',
        reason: 'FieldValueInvalid',
        message: 'too many groups',
      },
    ],
    warnings: [`${gang.name}${gang.spec.groups.length}`],
  });
  expect(says.warnOfUpdate?.(gang, gang)).toEqual([`${gang.name} stays`]);
  expect(hosted.warnsOfUpdates).toBe(true);
  // A change that nobody may refuse waits for no module.
  hosted.stop();
  expect((await hosted.ofChange(gang, gang, 10_000)).warnOfUpdate?.(gang, gang)).toEqual([]);
  expect(await laterOf(hosted.ofGang(gang, gang, 10_000))).toContain('does not run');
});

test('a verdict that is none is the backend’s defect', async () => {
  const { backend } = await start(`validatePodGang: () => ({ faults: [{ rule: 'toString' }] }),`);
  const gang = gangOf();
  const says = await backend[HOSTED].ofGang(gang, undefined, 10_000);
  expect(() => says.validatePodGang(gang)).toThrow('a fault of a rule that there is not');
});

test('what its objects say is asked for once, and the gang is looked at again', async () => {
  const { backend } = await start(
    `explain: (objects) => objects.map(({ status }) => status.message).join('\\n'),`,
  );
  const touched: string[] = [];
  const said = new Promise<void>((resolve) =>
    backend[HOSTED].subscribe({ ended: () => undefined, said: (gang) => (touched.push(gang), resolve()) }),
  );
  const object = (message: string): JsonObject => ({
    metadata: {
      namespace: 'ml',
      uid: 'u',
      resourceVersion: message,
      ownerReferences: [{ controller: true, name: 'train' }],
    },
    status: { message },
  });
  expect(backend.explain([object('no room')])).toBeUndefined();
  await said;
  expect(touched).toEqual(['ml/train']);
  expect(backend.explain([object('no room')])).toBe('no room');
});

const LOOKS = `preparePod: (pod, _gang, patch) => {
  let seen;
  try { seen = pod.list('containers.env').map(({ name }) => name).join(); } catch (thrown) { seen = thrown.message; }
  patch.annotate('a', seen + ' ' + pod.at(['spec', 'hostNetwork']), 'shown');
},`;
const POD: JsonObject = {
  metadata: {},
  spec: { hostNetwork: true, containers: [{ name: 'main', env: [{ name: 'A', value: 'x' }] }] },
};

test.each([
  ['says nothing of it', '', expect.stringMatching(/^backend mine looked at containers\.env, .* true$/)],
  ['says that it looks', 'readsWholePods: true,', 'A true'],
  ['adds to it', `patchSurface: { annotations: ['a'], lists: ['containers.env'] },`, 'A true'],
])('a module that %s gets of a Pod’s environment what it declared', async (_what, declared, seen) => {
  const { prepare } = await start(LOOKS + declared);
  expect((await prepare(POD)).at(-1)).toMatchObject({ operation: { value: { a: seen } } });
});
