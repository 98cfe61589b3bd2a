import fs from 'node:fs';
import type { Membership } from '../../../src/gang/membership.ts';
import type { Backend, PodPatch, PodReader } from '../../../src/backends/backend.ts';
import { ANNOTATION_CART, changed, LABEL_GROUP, type BrokenBackend } from './sound.ts';

type Prepare = (pod: PodReader, patch: PodPatch, gang: Membership) => unknown;

/** Prepares as the sound one does, and then more. */
const andThen = (more: Prepare) =>
  changed((sound) => ({
    preparePod: (pod: PodReader, gang: Membership, patch: PodPatch) => {
      sound.preparePod(pod, gang, patch);
      return more(pod, patch, gang);
    },
  }));

const surface = (parts: Partial<Backend['patchSurface']>) =>
  changed(({ patchSurface }) => ({ patchSurface: { ...patchSurface, ...parts } }));

const now = (): string => String(Date.now());

function slowly(): void {
  for (let count = 0, sum = 0; count < 200_000; count += 1) sum = (sum * 31 + count) % 1_000_003;
}

let calls = 0;

export const brokenPrepare: readonly BrokenBackend[] = [
  {
    breaks: 'surface',
    how: 'declares a label of Muster’s',
    says: 'grove.io/podgang is Muster’s, and no backend’s to touch',
    factory: surface({ labels: [LABEL_GROUP, 'grove.io/podgang'] }),
  },
  {
    breaks: 'surface',
    how: 'declares a key that is none',
    says: '"a b" is no legal key',
    factory: surface({ annotations: [ANNOTATION_CART, 'a b'] }),
  },
  {
    breaks: 'prepare-synchronous',
    how: 'is async',
    says: 'it returned a promise: what it does later reaches no Pod',
    factory: andThen(() => Promise.resolve()),
  },
  {
    breaks: 'prepare-synchronous',
    how: 'returns the patch',
    says: 'it returned "done"',
    factory: andThen(() => 'done'),
  },
  {
    breaks: 'prepare-pure',
    how: 'looks at the clock',
    says: 'it called Date.now',
    factory: andThen((_pod, patch) => patch.annotate(ANNOTATION_CART, now(), 'when')),
  },
  {
    breaks: 'prepare-pure',
    how: 'reads a file, and goes on without it',
    says: 'it called fs.readFileSync',
    factory: andThen(() => {
      try {
        fs.readFileSync('/nowhere');
      } catch {
        return;
      }
    }),
  },
  {
    breaks: 'prepare-pure',
    how: 'asks chance and sets a timer',
    says: 'it called Math.random, queueMicrotask, setTimeout',
    factory: andThen(() => {
      for (const work of [() => setTimeout(now, 1), () => Math.random(), () => queueMicrotask(now)]) {
        try {
          work();
        } catch {
          // Goes on.
        }
      }
    }),
  },
  {
    breaks: 'prepare-throws',
    how: 'looks at the environment, and has not said so',
    says: 'it threw "backend cart looked at containers.env, which it is given only where it declares to look there',
    factory: andThen((pod) => void pod.list('containers.env')),
  },
  {
    breaks: 'prepare-throws',
    how: 'trips over a Pod without annotations',
    says: 'it threw "cannot read \'x\' of undefined": Pods fail with 500',
    factory: andThen((pod) => {
      if (pod.annotation('app') === undefined) throw new TypeError("cannot read 'x' of undefined");
    }),
  },
  {
    breaks: 'patch-surface',
    how: 'writes what it did not declare',
    says: 'backend cart called annotate other.example.com/x, which is outside its patchSurface',
    factory: andThen((_pod, patch) => patch.annotate('other.example.com/x', 'y', 'why not')),
  },
  {
    breaks: 'patch-surface',
    how: 'writes a number',
    says: `backend cart called annotate ${ANNOTATION_CART} with a value that is no string`,
    factory: andThen((_pod, patch) => patch.annotate(ANNOTATION_CART, 1 as never, 'a count')),
  },
  {
    breaks: 'prepare-scheduler',
    how: 'leaves the scheduler alone where the Pod names one',
    says: 'a Pod with "default-scheduler" came out with "default-scheduler", not "cart-scheduler": the validating webhook will refuse it',
    factory: changed(() => ({
      preparePod: (pod: PodReader, gang: Membership, patch: PodPatch) => {
        if (pod.schedulerName === '') patch.setSchedulerName('cart-scheduler', 'none was named');
        patch.annotate(ANNOTATION_CART, gang.gang, 'the cart it goes in');
      },
    })),
  },
  {
    breaks: 'prepare-same-bytes',
    how: 'counts',
    says: 'the second patch of a Pod differs from the first',
    factory: andThen((_pod, patch) => patch.annotate(ANNOTATION_CART, `n${(calls += 1)}`, 'a number')),
  },
  {
    breaks: 'prepare-same-bytes',
    how: 'each instance has a number of its own',
    says: 'another instance made from the same settings patches a Pod differently',
    factory: changed((sound) => {
      const mine = `n${(calls += 1)}`;
      return {
        preparePod: (pod: PodReader, gang: Membership, patch: PodPatch) => {
          sound.preparePod(pod, gang, patch);
          patch.annotate(ANNOTATION_CART, mine, 'the replica');
        },
      };
    }),
  },
  {
    breaks: 'prepare-idempotent',
    how: 'appends',
    says: 'it patched the prepared Pod again, at /metadata/annotations/cart.example.com~1cart',
    factory: andThen((pod, patch) =>
      patch.annotate(ANNOTATION_CART, `${pod.annotation(ANNOTATION_CART) ?? ''}+`, 'one more'),
    ),
  },
  {
    breaks: 'prepare-legal',
    how: 'a label value with a slash',
    says: `label ${LABEL_GROUP} became "ml/`,
    factory: andThen((pod, patch, gang) => {
      if (pod.namespace === 'ml') patch.label(LABEL_GROUP, `ml/${gang.group}`, 'where it sits');
    }),
  },
  {
    breaks: 'prepare-speed',
    how: 'thinks long',
    says: 'times as long: every Pod of the cluster waits for it',
    factory: andThen(slowly),
  },
];
