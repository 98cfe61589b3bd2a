import { describe, expect, test } from '@jest/globals';
import { LABEL_MANAGED_BY, MANAGED_BY_GROVE } from '../../../src/api/names.ts';
import { backendWants, type GangEvent } from '../../../src/gang/plan/predicates.ts';
import { condition, gang } from './gang-states.ts';
import type { GangRecord } from '../../../src/gang/records.ts';

const labels = new Map([[LABEL_MANAGED_BY, MANAGED_BY_GROVE]]);
const isManaged = (one: Pick<GangRecord, 'labels'>): boolean =>
  one.labels.get(LABEL_MANAGED_BY) === MANAGED_BY_GROVE;
const managed = gang({ labels });
const next = gang({ labels, generation: 4 });
const unmanaged = gang();
const update = (before: GangRecord, after: GangRecord): GangEvent<GangRecord> => ({
  type: 'update',
  before,
  after,
});

describe('what a backend is asked about', () => {
  test.each<[string, GangEvent<GangRecord>, boolean]>([
    ['managed create', { type: 'create', object: managed }, true],
    ['managed delete', { type: 'delete', object: managed }, true],
    ['unmanaged create', { type: 'create', object: unmanaged }, false],
    ['unmanaged delete', { type: 'delete', object: unmanaged }, false],
    ['generation + 1', update(managed, next), true],
    ['status only', update(managed, { ...managed, conditions: [condition('Initialized', 'True')] }), false],
    ['managed to unmanaged', update(managed, { ...next, labels: new Map() }), false],
    ['unmanaged to managed, generation + 1', update(unmanaged, next), false],
    ['the same as created', { type: 'create', object: next }, true],
    ['generic', { type: 'generic', object: managed }, false],
  ])('vector 25: %s', (_what, event, wanted) => {
    expect(backendWants(event, isManaged)).toBe(wanted);
  });

  test('without a filter: creation and deletion always, updates of the spec', () => {
    expect(backendWants({ type: 'create', object: unmanaged })).toBe(true);
    expect(backendWants({ type: 'delete', object: unmanaged })).toBe(true);
    expect(backendWants(update(unmanaged, next))).toBe(true);
    expect(backendWants(update(unmanaged, managed))).toBe(false);
  });
});
