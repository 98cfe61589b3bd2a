import { expect, test } from '@jest/globals';
import { carryOutStep } from '../../../../src/cli/uninstall/carry-out.ts';
import type { UninstallStep } from '../../../../src/cli/uninstall/steps.ts';
import { deletions, type Write } from '../../../../src/cli/uninstall/write.ts';
import type { KubeClient } from '../../../../src/kube/client/client.ts';
import { ApiError } from '../../../../src/kube/client/errors.ts';
import { POD_GANGS, type KubeObject } from '../../../../src/kube/client/resources.ts';

const PATIENCE = { settleMs: 0, goneMs: 0 };
const OBJECT: KubeObject = {
  metadata: { name: 'train', finalizers: ['example.com/mine'], deletionTimestamp: 'now' },
};
const { writes } = deletions(POD_GANGS, [OBJECT], 'ml');

const stepOf = (find: () => readonly Write[], then: UninstallStep['then'] = 'go on'): UninstallStep => ({
  ...{ name: 'objects', why: '', then },
  find: () => Promise.resolve({ writes: find(), stays: [] }),
});
const clientWith = (methods: Partial<KubeClient>): { client: KubeClient; namespace: string } => ({
  client: methods as KubeClient,
  namespace: 'muster-system',
});

test('an object that somebody applies again each time is named', async () => {
  const where = clientWith({ delete: () => Promise.resolve() });
  await expect(
    carryOutStep(
      stepOf(() => writes),
      where,
      PATIENCE,
    ),
  ).rejects.toMatchObject({
    code: 'UNINSTALL_HELD',
    message: 'PodGang ml/train comes back each time it is deleted or changed',
    fix: 'Somebody applies it again, such as Argo CD, Flux or an operator: take Muster away there first, then run it again.',
  });
});

test('an object that is not gone is named with what holds it', async () => {
  const status = {
    conditions: [
      { status: 'True', message: 'some Pods remain' },
      { status: 'False', message: 'no' },
    ],
  };
  const where = clientWith({
    delete: () => Promise.resolve(),
    get: <T>() => Promise.resolve({ ...OBJECT, status } as T),
  });
  await expect(
    carryOutStep(
      stepOf(() => writes, 'wait'),
      where,
      PATIENCE,
    ),
  ).rejects.toMatchObject({
    code: 'UNINSTALL_HELD',
    message:
      'PodGang ml/train is deleted and not gone after 0 s: finalizer example.com/mine; some Pods remain',
    fix: 'Remove what holds it, then run it again: what is done already is not done twice.',
  });
});

test('what is refused for a moment is tried again, and what is refused each time is said', async () => {
  let left = 3;
  const refusal = new ApiError('delete podgangs train', { status: 422, message: 'the gate is protected' });
  const where = clientWith({
    delete: () => ((left -= 1) > 0 ? Promise.reject(refusal) : Promise.resolve()),
  });
  const done = await carryOutStep(
    stepOf(() => (left > 0 ? writes : [])),
    where,
    PATIENCE,
  );
  expect(done.writes).toEqual(writes);
  const never = clientWith({ delete: () => Promise.reject(refusal) });
  await expect(
    carryOutStep(
      stepOf(() => writes),
      never,
      PATIENCE,
    ),
  ).rejects.toThrow('the gate is protected');
});
