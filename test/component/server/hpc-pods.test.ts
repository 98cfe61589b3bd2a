/** Pods of gangs with an HPCPolicy, as they are prepared over the wire. */
import { afterAll, expect, test } from '@jest/globals';
import type { Json, JsonObject } from '../../../src/json/json.ts';
import { hpcPod, underHpc } from '../../support/hpc-gangs.ts';
import { review } from '../../support/reviews.ts';
import { applied } from '../../support/rfc6902.ts';
import { MUTATE_POD, VALIDATE_POD, reviewText } from './bodies.ts';
import { closeAll, responseOf, start } from './running.ts';

afterAll(closeAll);

test('a Pod of PyTorch is patched, comes again and is let in; one with a rank of its own is refused with the way out', async () => {
  const { placement, hpc } = underHpc({}, { spec: { torch: { procPerNode: 'gpu' } } });
  const running = await start({ ...(placement && { placement }), ...(hpc && { hpc }) });
  const ask = async (path: string, object: JsonObject): Promise<Record<string, unknown>> =>
    responseOf(await running.post(path, reviewText(review('Pod', { object }))));
  const resources = { limits: { 'nvidia.com/gpu': '8' } };
  const args = ['--name', 'x y', '*.toml', '$(RANK)', 'ä\u0000"\\'];
  const given = hpcPod({ spec: { hostname: 'worker-3' } }, { resources, args });

  const first = await ask(MUTATE_POD, given);
  const patch = JSON.parse(Buffer.from(first['patch'] as string, 'base64').toString()) as never;
  const stored = applied(JSON.stringify(given), patch);
  expect(stored).toMatchObject({
    spec: {
      subdomain: 'train',
      containers: [{ command: ['lmp'], args, resources }],
    },
  });
  const [container] = (stored['spec'] as { containers: [{ env: Json[] }] }).containers;
  expect(container.env).toContainEqual({ name: 'RANK', value: '3' });
  expect(container.env).toContainEqual({ name: 'WORLD_SIZE', value: '32' });
  expect(await ask(MUTATE_POD, stored)).toMatchObject({ allowed: true });
  expect(await ask(MUTATE_POD, stored)).not.toHaveProperty('patch');
  expect(await ask(VALIDATE_POD, stored)).toMatchObject({ allowed: true });

  const other = hpcPod({}, { resources, env: [{ name: 'RANK', value: '7' }] });
  expect(await ask(MUTATE_POD, other)).toMatchObject({
    allowed: false,
    status: {
      code: 422,
      details: {
        causes: [
          {
            field: 'spec.containers[0].env[0]',
            message:
              'Forbidden: "RANK": Muster sets this variable for the HPCPolicy of the gang, and the container has another value for it (it is 0); remove it from env [TorchVariableTaken]',
          },
        ],
      },
    },
  });
});
