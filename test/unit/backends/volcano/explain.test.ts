import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { explainVolcano } from '../../../../src/backends/volcano/backend.ts';

const condition = (type: string, second: number, parts: JsonObject = {}): JsonObject => ({
  type,
  status: 'True',
  reason: type === 'Scheduled' ? 'tasks in gang are ready to be scheduled' : 'NotEnoughResources',
  lastTransitionTime: `2026-06-01T12:00:0${second}Z`,
  ...(type === 'Unschedulable' && { message: '3/3 tasks in gang unschedulable:\npod group is not ready' }),
  ...parts,
});
const said = (phase: string | undefined, ...conditions: JsonObject[]): string | undefined =>
  explainVolcano([
    {
      metadata: { name: 'train' },
      spec: { queue: 'gpu', minMember: 3 },
      status: phase === undefined ? {} : { phase, conditions },
    },
  ]);
const WORDS = '3/3 tasks in gang unschedulable: pod group is not ready (queue "gpu")';

describe('what Volcano says of a gang', () => {
  test('nothing where there is no PodGroup', () => {
    expect(explainVolcano([])).toBeUndefined();
  });

  test('nothing once the minimum is bound, whatever old conditions say', () => {
    expect(said('Running', condition('Unschedulable', 1), condition('Scheduled', 2))).toBeUndefined();
    expect(said('Running', condition('Unschedulable', 1))).toBeUndefined();
    expect(said('Completed', condition('Unschedulable', 1))).toBeUndefined();
  });

  test('a status that stays empty means a missing queue, or nobody there', () => {
    expect(said(undefined)).toBe(
      'Volcano has not taken up the PodGroup: its queue "gpu" may be missing, or its scheduler is not running',
    );
    expect(explainVolcano([{ metadata: {}, spec: {} }])).toContain('its queue "default" may be missing');
  });

  test('its words on one line, with the queue that it never names', () => {
    expect(said('Inqueue', condition('Unschedulable', 1))).toBe(WORDS);
    expect(said('Inqueue')).toBeUndefined();
  });

  test('the condition that changed last, also where both are True', () => {
    expect(said('Unknown', condition('Unschedulable', 3), condition('Scheduled', 2))).toBe(WORDS);
    expect(said('Unknown', condition('Unschedulable', 1), condition('Scheduled', 2))).toBeUndefined();
    expect(said('Unknown', condition('Scheduled', 2), condition('Unschedulable', 2))).toBe(WORDS);
    expect(said('Inqueue', condition('Unschedulable', 1, { status: 'False' }))).toBeUndefined();
  });

  test('that it waits in its queue', () => {
    const waits =
      'the PodGroup waits in queue "gpu": the queue or the cluster has no room for its minResources, or the queue is closed';
    const pending = (...conditions: JsonObject[]) =>
      explainVolcano([
        { spec: { queue: 'gpu', minResources: { cpu: '3' } }, status: { phase: 'Pending', conditions } },
      ]);
    expect(pending()).toBe(waits);
    expect(pending(condition('Unschedulable', 1))).toBe(
      `${waits}; 3/3 tasks in gang unschedulable: pod group is not ready`,
    );
    // A gang that lost all its Pods is let in again after a moment.
    expect(said('Pending')).toBe('the PodGroup waits to be let into queue "gpu", which may be closed');
  });

  test('in as much room as a status has', () => {
    const text = said(
      'Inqueue',
      condition('Unschedulable', 1, { message: `a\u001b[31m${'x'.repeat(9000)}` }),
    );
    expect(text?.length).toBe(512);
    expect(text).toMatch(/^a\\u\{1b\}\[31mx+…$/);
  });
});
