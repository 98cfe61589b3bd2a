import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PATH_VALIDATE_WORKLOAD } from '../../../src/api/names.ts';
import { askingWorkload } from '../../support/asking-workloads.ts';
import { workloadReview } from '../../support/reviews.ts';
import { reviewText } from './bodies.ts';
import { closeAll, responseOf, start, type Running } from './running.ts';

let running: Running;
beforeAll(async () => void (running = await start()));
afterAll(closeAll);

const ask = async (title: string, spec: string): Promise<Record<string, unknown>> => {
  const object = askingWorkload(`${title} x`, spec);
  // What nobody reads of it may be whatever it is.
  const body = reviewText(workloadReview(title, { object })).toString();
  const metadata = '"metadata":{"managedFields":[{"manager":"kubectl",,}],';
  return responseOf(await running.post(PATH_VALIDATE_WORKLOAD, body.replace('"metadata":{', metadata)));
};

test('a workload that cannot be a gang is refused with the field, the reason and the way out', async () => {
  const response = await ask('apps/v1 StatefulSet', 'replicas: 3, template: T');
  expect(response).toMatchObject({ allowed: false, status: { code: 422, reason: 'Invalid' } });
  const { message, details } = response['status'] as { message: string; details: { causes: object[] } };
  expect(message).toMatch(/^StatefulSet x: spec\.podManagementPolicy: .*podManagementPolicy: Parallel/);
  expect(details.causes).toMatchObject([{ field: 'spec.podManagementPolicy', reason: 'FieldValueInvalid' }]);
});

test('one that works otherwise than it looks is allowed with a warning, and never patched', async () => {
  const response = await ask('batch/v1 Job', 'parallelism: 5, completions: 3, template: T');
  expect(response).toEqual({
    uid: expect.any(String),
    allowed: true,
    warnings: [expect.stringMatching(/^spec\.parallelism: 5 is above completions/)],
  });
});

test('any kind may be sent, and one without a template is none of its business', async () => {
  expect(await ask('example.com/v1 Thing', 'x: 1')).toEqual({ uid: expect.any(String), allowed: true });
});
