import type { PodGang } from '../../../src/api/pod-gang.ts';
import { ignoredTerms, type Preempts } from '../../../src/backends/shared-warnings.ts';
import type { SyncContext } from '../../../src/backends/cluster.ts';
import { cart, CART_PREEMPTS, changed, type BrokenBackend } from './sound.ts';

const saying = (spec: (gang: PodGang) => Record<string, string>) =>
  changed(() => ({
    syncPodGang: async (context: SyncContext, gang: PodGang) => {
      const wanted = cart(gang);
      await context.apply({ ...wanted, spec: { ...wanted.spec, load: [spec(gang)] } });
    },
  }));

/** Without `always` it claims to keep to whatever mode a gang asks for. */
const ANY_MODE: Preempts = { scheduler: 'cart' };

export const brokenPriorities: readonly BrokenBackend[] = [
  {
    breaks: 'priorities',
    how: 'drops the disruption mode',
    says: 'a gang with muster.dev/disruption-mode Pod and one with PodGroup get the same objects and the same warnings',
    factory: changed(() => ({
      validatePodGang: (gang: PodGang) => ({ faults: [], warnings: ignoredTerms(gang, ANY_MODE) }),
    })),
  },
  {
    breaks: 'priorities',
    how: 'drops what it costs to preempt the gang',
    says: 'muster.dev/preemption-priority-class changes neither objects nor warnings',
    factory: changed(() => ({
      validatePodGang: (gang: PodGang) => ({
        faults: [],
        warnings: ignoredTerms({ ...gang, spec: {} as never }, CART_PREEMPTS).filter((text) =>
          text.includes('mode'),
        ),
      }),
    })),
  },
  {
    breaks: 'priorities',
    how: 'drops it where it comes later',
    says: 'muster.dev/preemption-priority-class on a stored gang changes no object, and warnOfUpdate() says nothing of it',
    factory: changed(() => ({ warnOfUpdate: undefined })),
  },
  {
    breaks: 'priorities',
    how: 'one class for all gangs',
    says: 'an object of a gang with priorityClassName urgent says priorityClassName: "usual"',
    factory: saying(() => ({ priorityClassName: 'usual' })),
  },
  {
    breaks: 'priorities',
    how: 'the class that a gang had first',
    says: 'an object of a gang with priorityClassName calm says priorityClassName: "urgent"',
    factory: changed(() => {
      let first: string | undefined;
      return {
        syncPodGang: async (context: SyncContext, gang: PodGang) => {
          first ??= gang.spec.priorityClassName ?? 'none';
          const wanted = cart(gang);
          await context.apply({ ...wanted, spec: { ...wanted.spec, priorityClassName: first } });
        },
      };
    }),
  },
  {
    breaks: 'priorities',
    how: 'a policy of its own',
    says: 'an object of a gang with preemptionPolicy PreemptLowerPriority says preemptionPolicy: "Never"',
    factory: saying(() => ({ preemptionPolicy: 'Never' })),
  },
];
