import { expect, test } from '@jest/globals';
import { checkWrite, checkRead, type DeclaredAccess } from '../../../src/modules/callbacks.ts';

const declared: DeclaredAccess = {
  owns: [{ group: 'line.example.com', version: 'v1', plural: 'lines', kind: 'Line', namespaced: true }],
  rights: [
    { group: 'line.example.com', resources: ['queues'], verbs: ['get'], names: undefined },
    { group: '', resources: ['nodes'], verbs: ['get', 'list'], names: undefined },
    { group: '', resources: ['secrets', 'pods/log'], verbs: ['get'], names: undefined },
    { group: '', resources: ['configmaps'], verbs: ['get'], names: ['line'] },
    { group: 'line.example.com', resources: ['settings'], verbs: ['create'], names: undefined },
  ],
};

test.each([
  '/version',
  '/api',
  '/api/v1',
  '/apis',
  '/apis/line.example.com',
  '/apis/line.example.com/v1/',
  '/apis/line.example.com/v1/lines',
  '/apis/line.example.com/v1/namespaces/a/lines/x',
  '/apis/line.example.com/v1/queues/x',
  '/api/v1/nodes?labelSelector=a',
  '/api/v1/nodes/n',
  '/api/v1/namespaces/a/pods/p/log',
  '/api/v1/namespaces/a/configmaps/line',
])('%s is declared', (path) => {
  expect(() => checkRead(path, declared)).not.toThrow();
});

test.each([
  ['/api/v1/namespaces/a/secrets/s', 'Secrets are read for no module'],
  ['/api/v1/secrets', 'Secrets are read for no module'],
  ['/api/v1/namespaces/a/%73ecrets/s', 'with the verb get'],
  ['/api/v1/watch/secrets', 'with the verb get'],
  ['/api/v1/pods', "declare it in its factory's rights, with the verb list"],
  ['/api/v1/namespaces/a/pods/p', 'with the verb get'],
  ['/api/v1/nodes/n/proxy/metrics', 'with the verb get'],
  ['/api/v1/namespaces/a', 'with the verb get'],
  ['/api/v1/namespaces/a/configmaps/other', 'with the verb get'],
  ['/api/v1/namespaces/a/configmaps', 'with the verb list'],
  ['/apis/line.example.com/v1/queues', 'with the verb list'],
  ['/apis/line.example.com/v1/lines/x/status', 'with the verb get'],
  ['/apis/other.example.com/v1/lines', 'with the verb list'],
  ['/metrics', 'no path of objects'],
  ['/', 'no path of objects'],
])('%s is not', (path, says) => {
  expect(() => checkRead(path, declared)).toThrow(says);
  expect(() => checkRead(path, { owns: [], rights: [] })).toThrow(
    /^the module asked for \/.*, which it does not declare: /,
  );
});

test('what it keeps is of its own kinds, or declared', () => {
  const kind = { group: 'line.example.com', version: 'v1', kind: 'X', namespaced: true };
  for (const plural of ['lines', 'settings'])
    expect(() => checkWrite({ ...kind, plural }, declared)).not.toThrow();
  expect(() => checkWrite({ ...kind, plural: 'queues' }, declared)).toThrow(
    "the module asked for queues.line.example.com, which it does not declare: name its kind in owns(), or declare it in its factory's rights with the verb create",
  );
});
