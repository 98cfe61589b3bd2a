/** A review that waits for one bounded read: of a PodGang that the watch does not know yet. */
import { afterEach, expect, test } from '@jest/globals';
import type { NamedBackend, Place, GangLookup } from '../../../src/backends/select.ts';
import { TryLater } from '../../../src/errors.ts';
import { gangPod } from '../../support/pods.ts';
import { review } from '../../support/reviews.ts';
import { MUTATE_POD, VALIDATE_POD, reviewText } from './bodies.ts';
import { closeAll, expectStatus, responseOf, start, until } from './running.ts';

afterEach(closeAll);

const SETTINGS = {
  text: `apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
scheduler: { profiles: [{ name: default-scheduler }, { name: volcano }] }`,
} as const;
const final = (gang: NamedBackend): GangLookup => ({ ofGang: () => gang, ofNamespace: () => null });
const body = reviewText(review('Pod', { object: gangPod() }));

test('is decided by what was read', async () => {
  const asked: [Place, number][] = [];
  const placement: GangLookup = {
    ofGang: () => undefined,
    ofNamespace: () => null,
    read: (place, withinMs) => {
      asked.push([place, withinMs]);
      return Promise.resolve(final('volcano'));
    },
  };
  const running = await start({ ...SETTINGS, placement });
  const response = responseOf(await running.post(`${MUTATE_POD}?timeout=20s`, body));
  const patch = Buffer.from(response['patch'] as string, 'base64').toString();
  expect(JSON.parse(patch)).toContainEqual({ op: 'replace', path: '/spec/schedulerName', value: 'volcano' });
  expect(response['auditAnnotations']).toEqual({ backend: 'volcano', gang: 'ml/train' });
  expect(asked).toEqual([[{ namespace: 'ml', gang: 'train' }, expect.any(Number)]]);
  const [, withinMs = 0] = asked[0] ?? [];
  expect(withinMs).toBeGreaterThan(0);
  expect(withinMs).toBeLessThanOrEqual(19_750);
});

test('is answered with the retriable 503 where it cannot be read, and counted', async () => {
  const read = () =>
    Promise.reject(
      new TryLater('gang-unread', 'PodGang ml/train is not known yet and could not be read: no route'),
    );
  const running = await start({
    ...SETTINGS,
    placement: { ofGang: () => undefined, ofNamespace: () => null, read },
  });
  for (const path of [MUTATE_POD, VALIDATE_POD]) {
    const answer = await running.post(
      path,
      reviewText(
        review('Pod', {
          object: gangPod({ spec: { schedulingGates: [{ name: 'grove.io/podgang-pending-creation' }] } }),
        }),
      ),
    );
    expectStatus(
      answer,
      503,
      /PodGang ml\/train is not known yet and could not be read: no route; the API server retries/,
    );
    expect(answer.headers['retry-after']).toBe('1');
  }
  expect(await running.metric('muster_admission_shed_total{reason="gang-unread"}')).toBe(2);
});

test('is answered at its deadline whatever the read does, and others are answered meanwhile', async () => {
  let asked = 0;
  const read = (): Promise<GangLookup> => {
    asked += 1;
    return new Promise(() => undefined);
  };
  const known = final('volcano');
  const placement: GangLookup = {
    ofGang: (_namespace, gang) => (gang === 'train' ? undefined : known.ofGang('', gang)),
    ofNamespace: () => null,
    read,
  };
  const running = await start({ ...SETTINGS, placement });
  const waiting = running.post(`${MUTATE_POD}?timeout=1s`, body);
  await until('it is read', () => asked === 1);
  const other = gangPod({ labels: { 'grove.io/podgang': 'other' } });
  responseOf(await running.post(MUTATE_POD, reviewText(review('Pod', { object: other }))));
  expectStatus(await waiting, 504, /no decision within 750 ms/);
});
