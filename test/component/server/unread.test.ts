/** What is left out of a review before it is parsed is there for whoever looks, over the wire as well. */
import { afterEach, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import type { Preparer } from '../../../src/preparers/preparer.ts';
import { gangPod } from '../../support/pods.ts';
import { review } from '../../support/reviews.ts';
import { applied } from '../../support/rfc6902.ts';
import { MUTATE_POD, reviewText } from './bodies.ts';
import { closeAll, expectStatus, responseOf, start } from './running.ts';

afterEach(closeAll);

const SEEN = 'example.com/seen';
const object = gangPod({
  spec: {
    containers: [
      { name: 'main', env: [{ name: 'A', value: ']' }], resources: {} },
      { name: 'other', env: [{ name: 'B', value: 'x' }], resources: {} },
    ],
  },
});

/** Writes down the variables of one container; adds one where it says that it does. */
const looking = (adds: boolean): Preparer => ({
  name: 'looking',
  patchSurface: { annotations: [SEEN], ...(adds && { lists: ['containers.env'] as const }) },
  prepare: (pod, _gang, patch) => {
    const names = pod.list('containers.env', 'other').map(({ name }) => name as string);
    patch.annotate(SEEN, names.join(), 'so that it can be seen');
    if (adds) patch.add('containers.env', { name: 'B', value: 'y' }, 'each has one');
  },
});

async function prepared(preparer: Preparer): Promise<JsonObject> {
  const running = await start({ preparers: [preparer] });
  const response = responseOf(await running.post(MUTATE_POD, reviewText(review('Pod', { object }))));
  const operations = JSON.parse(Buffer.from(String(response['patch']), 'base64').toString()) as never;
  return applied(JSON.stringify(object), operations);
}

test.each([false, true])(
  'a preparer sees the environment, whether or not it adds to it (%s)',
  async (adds) => {
    const { metadata, spec } = await prepared(looking(adds));
    expect(metadata).toMatchObject({ annotations: { [SEEN]: 'B' } });
    const [main, other] = (spec as { containers: JsonObject[] }).containers;
    const added = adds ? [{ name: 'B', value: 'y' }] : [];
    expect(main).toMatchObject({ env: [{ name: 'A', value: ']' }, ...added] });
    expect(other).toMatchObject({ env: [{ name: 'B', value: 'x' }] });
  },
);

test('a fault in what is left out is told to whoever looks, and to nobody else', async () => {
  const body = reviewText(review('Pod', { object })).toString().replace('"value":"x"', '"value":x');
  const running = await start();
  expect(responseOf(await running.post(MUTATE_POD, body))).toMatchObject({ allowed: true });
  const other = await start({ preparers: [looking(false)] });
  expectStatus(await other.post(MUTATE_POD, body), 400, /not JSON/);
  await other.alive();
});
