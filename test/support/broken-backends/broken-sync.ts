import { setTimeout as sleep } from 'node:timers/promises';
import type { PodGang } from '../../../src/api/pod-gang.ts';
import type { SyncContext } from '../../../src/backends/cluster.ts';
import type { Membership } from '../../../src/gang/membership.ts';
import type { PodPatch, PodReader } from '../../../src/backends/backend.ts';
import { ANNOTATION_CART, cart, CARTS, changed, LABEL_GROUP, type BrokenBackend } from './sound.ts';

const syncing = (syncPodGang: (context: SyncContext, gang: PodGang) => Promise<unknown>) =>
  changed(() => ({ syncPodGang }));

let calls = 0;

/** Longer than the kit is patient, and not for ever, as this process has other things to do. */
const STUBBORN_MS = 2_500;

export const brokenSync: readonly BrokenBackend[] = [
  {
    breaks: 'sync-works',
    how: 'never ends',
    says: 'syncPodGang() did not answer within 2 s',
    factory: syncing(() => new Promise(() => undefined)),
  },
  {
    breaks: 'sync-works',
    how: 'fails',
    says: 'no wheels',
    factory: syncing(() => Promise.reject(new Error('no wheels'))),
  },
  {
    breaks: 'sync-owns',
    how: 'does not say what it writes',
    says: 'it writes Cart, which owns() does not list',
    factory: changed(() => ({ owns: undefined })),
  },
  {
    breaks: 'sync-names',
    how: 'a name with an underscore',
    says: `has a Cart "cart_of_a.b-c.d", which is no object’s name`,
    factory: syncing((context, gang) =>
      context.apply(cart(gang, gang.name === 'train' ? 'train' : `cart_of_${gang.name}`)),
    ),
  },
  {
    breaks: 'sync-same',
    how: 'names with a number',
    says: 'two instances made from the same settings keep different objects: Cart train-',
    factory: syncing((context, gang) => context.apply(cart(gang, `${gang.name}-${(calls += 1)}`))),
  },
  {
    breaks: 'sync-writes-once',
    how: 'makes the object anew each time',
    says: 'it wrote again: delete Cart ml/train, create Cart ml/train',
    factory: syncing(async (context, gang) => {
      await context.remove(CARTS, gang.name);
      await context.apply(cart(gang));
    }),
  },
  {
    breaks: 'sync-keeps-foreign',
    how: 'makes the object anew where anything differs',
    says: 'it wrote over what another controller had added: delete Cart ml/train, create Cart ml/train',
    factory: syncing(async (context, gang) => {
      const [live] = context.owned(CARTS);
      const wanted = cart(gang);
      const seats = Object.keys(live?.['spec'] ?? {}).length;
      if (live !== undefined && seats !== Object.keys(wanted.spec).length)
        await context.remove(CARTS, gang.name);
      await context.apply(wanted);
    }),
  },
  {
    breaks: 'delete-cleans',
    how: 'counts on the object',
    says: 'it fails where nothing is left: no cart to unload',
    factory: changed(() => ({
      onPodGangDelete: (context: SyncContext) =>
        context.owned(CARTS).length === 0
          ? Promise.reject(new Error('no cart to unload'))
          : Promise.resolve(),
    })),
  },
  {
    breaks: 'delete-cleans',
    how: 'makes it anew',
    says: 'it wrote create Cart ml/train where nothing is left',
    factory: changed(() => ({
      onPodGangDelete: async (context: SyncContext, gang: PodGang) => {
        await context.apply(cart(gang));
      },
    })),
  },
  {
    breaks: 'other-gangs',
    how: 'one object for all gangs of a namespace',
    says: 'PodGang ml/train-worker is in the way of another: Cart shared exists and belongs to PodGang train, so PodGang train-worker cannot have it',
    factory: syncing((context, gang) => context.apply(cart(gang, 'shared'))),
  },
  {
    breaks: 'sync-trouble',
    how: 'keeps errors to itself',
    says: '403 Forbidden for call 1 while creating: it resolved though its objects are not as they should be, so the gang would be let go',
    factory: syncing((context, gang) => context.apply(cart(gang)).catch(() => undefined)),
  },
  {
    breaks: 'sync-trouble',
    how: 'is offended for good',
    says: 'threw no second try',
    factory: changed(() => {
      let offended = false;
      return {
        syncPodGang: async (context: SyncContext, gang: PodGang) => {
          if (offended) throw new Error('no second try');
          offended = true;
          await context.apply(cart(gang));
          offended = false;
        },
      };
    }),
  },
  {
    breaks: 'sync-signal',
    how: 'tries on after its time',
    says: 'it was still at work 1000 ms after the signal was aborted',
    factory: syncing(async (context, gang) => {
      for (const until = performance.now() + STUBBORN_MS; performance.now() < until; await sleep(5)) {
        try {
          return await context.apply(cart(gang));
        } catch {
          // Once more.
        }
      }
      throw new Error('never mind');
    }),
  },
  {
    breaks: 'names-agree',
    how: 'cuts names short at one end only',
    says: `for PodGang ${'x'.repeat(63)} it writes "xxxxxxxxxxxxxxxxxxxx" into metadata.annotations[${ANNOTATION_CART}], and there is no such object (${'x'.repeat(63)})`,
    factory: changed(() => ({
      preparePod: (_pod: PodReader, gang: Membership, patch: PodPatch) => {
        patch.setSchedulerName('cart-scheduler', 'it is asked for');
        patch.annotate(ANNOTATION_CART, gang.gang.slice(0, 20), 'the cart it goes in');
        patch.label(LABEL_GROUP, gang.group, 'where it sits');
      },
    })),
  },
];
