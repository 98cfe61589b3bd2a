import type { Fault } from '../api/fault.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { messageOf } from '../errors.ts';
import type { Backend } from '../backends/backend.ts';
import { RELEASE_ORDERS } from '../gang/records.ts';
import { broken, type ConformanceRule } from './check.ts';
import { STANDS } from './identity-rules.ts';
import { reachedOutside } from './outside-world.ts';
import { oddGangs, sampleGang, SHAPES, type StoredGang } from './sample-gangs.ts';
import type { Subject } from './subject.ts';

/** The first sample gang for which the backend reports no fault; otherwise throws the faults of the last one. */
export function takenGang(
  { given }: Subject,
  backend: Backend,
  place?: { namespace?: string; name?: string },
): StoredGang | Fault {
  let refused: Fault | undefined;
  for (const shape of SHAPES) {
    const gang = sampleGang(given.gang, shape, place);
    refused = backend.validatePodGang(gang).faults[0];
    if (refused === undefined) return gang;
  }
  return refused as Fault;
}

const describe = ({ name, spec }: PodGang): string =>
  `PodGang ${JSON.stringify(name.slice(0, 20))} with ${spec.groups.length} groups`;

/** Calls `ask` with each malformed gang, and fails with the gang for which it threw. */
function neverThrows<T>(subject: Subject, ask: (gang: PodGang) => T): T[] {
  return oddGangs(subject.given.gang).map((gang) => {
    try {
      return ask(gang);
    } catch (thrown) {
      throw broken(`it threw "${messageOf(thrown)}" for a ${describe(gang)}`);
    }
  });
}

export const gangRules: readonly ConformanceRule<Subject>[] = [
  {
    name: 'validate-pure',
    rule: 'validatePodGang() uses no clock, no chance, no timer and no I/O, and says the same twice',
    needs: STANDS,
    look: async (subject) => {
      const { backend } = await subject.enabled();
      for (const gang of oddGangs(subject.given.gang)) {
        const tried = reachedOutside(() => backend.validatePodGang(gang));
        if (tried.length > 0) throw broken(`it called ${tried.join(', ')}`);
        const ask = (): string => {
          try {
            return JSON.stringify(backend.validatePodGang(gang));
          } catch (thrown) {
            return messageOf(thrown);
          }
        };
        if (ask() !== ask()) throw broken(`it said something else the second time about a ${describe(gang)}`);
      }
      return undefined;
    },
  },
  {
    name: 'validate-throws',
    rule: 'validatePodGang() throws for no gang, however odd, and gives faults with field and message, and warnings as strings',
    needs: ['validate-pure'],
    look: async (subject) => {
      const { backend } = await subject.enabled();
      for (const { faults, warnings } of neverThrows(subject, (gang) => backend.validatePodGang(gang))) {
        const bare = faults.find(({ rule, field, message }) => !(rule && field && message));
        if (bare !== undefined) throw broken(`a fault is ${JSON.stringify(bare)}: make it with fault()`);
        if (!warnings.every((warning) => typeof warning === 'string' && warning !== ''))
          throw broken('a warning is no text');
      }
      return undefined;
    },
  },
  {
    name: 'takes-a-gang',
    rule: 'there is a gang that the backend takes',
    needs: ['validate-throws'],
    look: async (subject) => {
      const taken = takenGang(subject, (await subject.enabled()).backend);
      if ('rule' in taken)
        throw broken(
          `it refuses a gang of one group (${taken.field}: ${taken.message}): give --config, or settings.gang, with what it needs`,
        );
      return undefined;
    },
  },
  {
    name: 'release-order',
    rule: 'releaseOrder(), countsEnding(), followsBinding(), followsReferences() and warnOfUpdate() throw for no gang, and give what their types say',
    needs: STANDS,
    look: async (subject) => {
      const { backend } = await subject.enabled();
      const orders = neverThrows(subject, (gang) => backend.releaseOrder?.(gang) ?? 'all-at-once');
      const wrong = orders.find((order) => !RELEASE_ORDERS.includes(order));
      if (wrong !== undefined) throw broken(`releaseOrder() gave ${JSON.stringify(wrong)}`);
      neverThrows(subject, (gang) => [
        backend.followsBinding?.(gang),
        backend.followsReferences?.(gang),
        backend.countsEnding?.(gang),
      ]);
      const plain = sampleGang(subject.given.gang, { worker: 1 });
      neverThrows(subject, (gang) => [
        ...(backend.warnOfUpdate?.(gang, plain) ?? []),
        ...(backend.warnOfUpdate?.(plain, gang) ?? []),
      ]);
      return undefined;
    },
  },
  {
    name: 'explain',
    rule: 'explain() throws for no objects, however odd, and gives one line or nothing',
    needs: STANDS,
    look: async (subject) => {
      const { backend } = await subject.enabled();
      for (const objects of oddObjects()) {
        let said: unknown;
        try {
          said = backend.explain?.(objects);
        } catch (thrown) {
          throw broken(`it threw "${messageOf(thrown)}" for ${JSON.stringify(objects).slice(0, 120)}`);
        }
        if (said !== undefined && (typeof said !== 'string' || said === '' || said.includes('\n')))
          throw broken(`it gave ${JSON.stringify(said)}`);
      }
      return undefined;
    },
  },
];

/** Values of a status field that no schema has validated. */
const ODD: readonly Json[] = [null, 0, '', 'x', true, [], {}, [null], [{}], [{ type: 1, message: {} }]];

function oddObjects(): JsonObject[][] {
  const named = (status: Json): JsonObject => ({
    metadata: { name: 'train', namespace: 'ml' },
    spec: {},
    status,
  });
  const condition = { type: 'Scheduled', status: 'False', reason: 'R', message: 'one\nof two lines' };
  return [
    [],
    [{}],
    ...ODD.map((value) => [{ metadata: value, spec: value, status: value }]),
    ...ODD.map((value) => [named({ conditions: value, phase: value, schedulingConditions: value })]),
    [named({ conditions: [condition], phase: 'Pending' }), named({ conditions: [condition] })],
  ];
}
