/** The Secret of a gang takes no right to read Secrets: it is made, and what was there before is told by what stands beside it. */
import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import type { OwnedObject, SyncContext } from '../../../../src/backends/cluster.ts';
import type { GangWatch } from '../../../../src/controller/watch/gang-watch.ts';
import { HpcObjects } from '../../../../src/controller/watch/hpc-objects.ts';
import { StillThere } from '../../../../src/controller/watch/shared.ts';
import { readGangRecord } from '../../../../src/gang/read-records.ts';
import { parseHpcPolicy } from '../../../../src/preparers/policy/hpc-policy.ts';
import { hpcGang } from '../../../support/hpc-gangs.ts';
import { hpcPolicy } from '../../../support/hpc.ts';

const POLICY = parseHpcPolicy(hpcPolicy({ hpc: { manager: 'flux' } }), 'ml').policy;
const CREATED = '2026-01-01T00:00:00Z';
const metadata = { ...(hpcGang()['metadata'] as object), uid: 'u2', creationTimestamp: CREATED };
const GANG = readGangRecord({ ...hpcGang(), metadata });

/** Syncs the gang so many seconds after it was created. @param there what is there: of the Secret, and beside it */
async function synced(seconds: number, there: { secret: boolean; beside?: JsonObject }) {
  const done: string[] = [];
  const watch = { view: { pods: { byIndex: () => [] } }, onPod: () => undefined, touch: () => undefined };
  const policies = { known: true, get: () => ({ policy: POLICY }), anyIn: () => true };
  const objects = new HpcObjects(
    watch as unknown as GangWatch,
    { policies: policies as never, onPolicy: () => undefined, gangsUnder: () => [] },
    [],
    () => Date.parse(CREATED) + seconds * 1000,
  );
  const context: SyncContext = {
    signal: new AbortController().signal,
    pods: [],
    owned: () => [],
    apply: ({ resource, name }: OwnedObject) => {
      done.push(`${resource.kind} ${name}`);
      return Promise.resolve(resource.kind === 'Secret' && there.secret ? 'unchanged' : 'created');
    },
    read: (path) => {
      done.push(path);
      return Promise.resolve(there.beside);
    },
    remove: () => Promise.resolve(),
    warn: () => undefined,
  };
  const error: unknown = await objects.sync(context, GANG).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { done, error };
}

const SECRET = 'Secret train-flux-curve';
const ALL = [SECRET, 'ConfigMap train-flux-entrypoint', 'Service train'];
const MAP = '/api/v1/namespaces/ml/configmaps/train-flux-entrypoint';
const of = (uid: string): JsonObject => ({
  metadata: { ownerReferences: [{ apiVersion: 'x', kind: 'PodGang', name: 'train', uid, controller: true }] },
});

describe('the Secret of a gang', () => {
  test('is made before all else', async () => {
    expect(await synced(1, { secret: false })).toEqual({ done: ALL, error: undefined });
  });

  test('that is there is the gang’s where another of its objects is, however young it is', async () => {
    expect(await synced(1, { secret: true, beside: of('u2') })).toEqual({
      done: [SECRET, MAP, ...ALL.slice(1)],
      error: undefined,
    });
  });

  test.each([
    ['is an earlier gang’s', of('u1')],
    ['is nobody’s', { metadata: {} }],
    ['is not there', undefined],
  ])('is waited for to go with an earlier gang where what stands beside it %s', async (_, beside) => {
    const given = { secret: true, ...(beside && { beside }) };
    expect(await synced(59, given)).toEqual({
      done: [SECRET, MAP],
      error: new StillThere(
        'Secret train-flux-curve was there before the gang: waiting for it to go with the earlier one',
      ),
    });
    // A crash between two writes leaves the same: it is not waited for for ever.
    expect(await synced(60, given)).toEqual({ done: ALL, error: undefined });
  });
});
