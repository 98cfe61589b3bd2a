import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { startServing, type Serving } from '../../support/serving.ts';

let serving: Serving | undefined;
afterEach(() => serving?.close());

test('without a cluster a backend that cannot begin is told of, and reviews are answered', async () => {
  const module = join(import.meta.dirname, '../../support/faulty-modules/not-beginning.ts');
  serving = await startServing({
    settings: {
      scheduler: {
        profiles: [{ name: 'default-scheduler' }, { name: 'not-beginning-scheduler', module }],
        defaultProfileName: 'default-scheduler',
      },
    },
  });
  const told = serving.log().filter(({ msg }) => msg === 'backend not ready');
  expect(told).toEqual([
    expect.objectContaining({
      level: 'error',
      backend: 'not-beginning-scheduler',
      reason: expect.stringContaining('the engine does not start'),
    }),
  ]);
  expect((await fetch(`http://127.0.0.1:${serving.healthPort}/readyz`)).status).toBe(200);
});
