import { expect, test } from '@jest/globals';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { decision, madeWith } from '../../../src/admission/review.ts';

/** Collects all garbage, once what the present job has looked at may go. */
async function collect(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

test('what a decision was made with outlives a collection, for as long as the decision', async () => {
  const part = new WeakRef({ patch: 1 });
  let made: unknown = madeWith(decision({ gang: 'a/b' }), part.deref());
  await collect();
  expect(part.deref()).toEqual({ patch: 1 });
  expect(made).toEqual(decision({ gang: 'a/b' }));

  made = undefined;
  await collect();
  expect([made, part.deref()]).toEqual([undefined, undefined]);
});
