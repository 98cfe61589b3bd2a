/** Until a backend has looked at the cluster nothing final is said on its account. */
import { afterEach, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import { podGang } from '../../support/pod-gangs.ts';
import { gangPod, pod, storedPod } from '../../support/pods.ts';
import { review, type RequestParts } from '../../support/reviews.ts';
import { MUTATE_POD, VALIDATE_POD, reviewText } from './bodies.ts';
import { closeAll, expectStatus, responseOf, start } from './running.ts';

afterEach(closeAll);

const VALIDATE_GANG = '/validate-scheduler-grove-io-v1alpha1-podgang';
const later = 'backend default-scheduler has not looked at the cluster yet';
const changed = (): JsonObject => podGang({ labels: { team: 'b' } });

test.each<[string, string, 'Pod' | 'PodGang', RequestParts]>([
  ['a Pod to prepare', MUTATE_POD, 'Pod', { object: gangPod() }],
  ['a PodGang to judge', VALIDATE_GANG, 'PodGang', { object: podGang() }],
])('%s: the retriable 503', async (_what, path, kind, parts) => {
  const running = await start({ notReady: () => later });
  const answer = await running.post(path, reviewText(review(kind, parts)));
  expectStatus(answer, 503, new RegExp(`${later}; the API server retries`));
  expect(answer.headers['retry-after']).toBe('1');
  expect(await running.metric('muster_admission_shed_total{reason="not-ready"}')).toBe(1);
});

test.each<[string, string, 'Pod' | 'PodGang', RequestParts]>([
  ['a Pod of no gang', MUTATE_POD, 'Pod', { object: pod() }],
  ['a prepared Pod', VALIDATE_POD, 'Pod', { object: storedPod() }],
  ['the deletion of a Pod', VALIDATE_POD, 'Pod', { operation: 'DELETE', oldObject: storedPod() }],
  ['the deletion of a PodGang', VALIDATE_GANG, 'PodGang', { operation: 'DELETE', oldObject: podGang() }],
  ['a change of metadata', VALIDATE_GANG, 'PodGang', { oldObject: podGang(), object: changed() }],
])('%s does not depend on it', async (_what, path, kind, parts) => {
  const running = await start({ notReady: () => later });
  expect(responseOf(await running.post(path, reviewText(review(kind, parts))))).toMatchObject({
    allowed: true,
  });
});
