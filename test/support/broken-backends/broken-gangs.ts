import type { JsonObject } from '../../../src/json/json.ts';
import type { PodGang } from '../../../src/api/pod-gang.ts';
import { fault } from '../../../src/api/fault.ts';
import { newlyIgnored } from '../../../src/backends/shared-warnings.ts';
import { CART_PREEMPTS, changed, type BrokenBackend } from './sound.ts';

const NOTHING_WRONG = { faults: [], warnings: [] };
let calls = 0;

export const brokenGangs: readonly BrokenBackend[] = [
  {
    breaks: 'validate-pure',
    how: 'looks at the clock',
    says: 'it called new Date',
    factory: changed(() => ({
      validatePodGang: () => ({ ...NOTHING_WRONG, warnings: [`it is ${new Date().getDay()}`] }),
    })),
  },
  {
    breaks: 'validate-pure',
    how: 'warns once only',
    says: 'it said something else the second time about a PodGang "train" with 0 groups',
    factory: changed(() => ({
      validatePodGang: () => ({ ...NOTHING_WRONG, warnings: [`warning ${(calls += 1)}`] }),
    })),
  },
  {
    breaks: 'validate-throws',
    how: 'counts on a group',
    says: 'it threw "no group" for a PodGang "train" with 0 groups',
    factory: changed(() => ({
      validatePodGang: ({ spec }: PodGang) => {
        if (spec.groups.length === 0) throw new Error('no group');
        return NOTHING_WRONG;
      },
    })),
  },
  {
    breaks: 'validate-throws',
    how: 'a fault that is none',
    says: 'a fault is {"message":"no"}: make it with fault()',
    factory: changed(() => ({
      validatePodGang: ({ name }: PodGang) =>
        name === '' ? { faults: [{ message: 'no' }], warnings: [] } : NOTHING_WRONG,
    })),
  },
  {
    breaks: 'takes-a-gang',
    how: 'takes none',
    says: 'it refuses a gang of one group (spec: Unsupported value: the scheduler of this gang cannot do this (never); change it',
    factory: changed(() => ({
      validatePodGang: () => ({
        faults: [fault('BackendCannotExpress', 'spec', { detail: 'never' })],
        warnings: [],
      }),
    })),
  },
  {
    breaks: 'release-order',
    how: 'an order that there is not',
    says: 'releaseOrder() gave "backwards"',
    factory: changed(() => ({ releaseOrder: () => 'backwards' })),
  },
  {
    breaks: 'release-order',
    how: 'counts on a group of the old gang',
    says: 'it threw "no group" for a PodGang "train" with 0 groups',
    factory: changed(() => ({
      warnOfUpdate: (before: PodGang, after: PodGang) => {
        if (before.spec.groups.length === 0) throw new Error('no group');
        return newlyIgnored(before, after, CART_PREEMPTS);
      },
    })),
  },
  {
    breaks: 'explain',
    how: 'counts on conditions',
    says: 'it threw "no conditions" for [{}]',
    factory: changed(() => ({
      explain: (objects: readonly JsonObject[]) => {
        if (objects.some(({ status }) => status === undefined)) throw new Error('no conditions');
        return undefined;
      },
    })),
  },
  {
    breaks: 'explain',
    how: 'tells a story',
    says: 'it gave "full\\nand old"',
    factory: changed(() => ({ explain: () => 'full\nand old' })),
  },
];
