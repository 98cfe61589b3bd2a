import {
  BACKEND_CONTRACT_VERSION,
  type Backend,
  type BackendFactory,
  type BackendSettings,
} from '../../../src/backends/backend.ts';
import { readProfileConfig } from '../../../src/backends/profile-config.ts';
import type { OwnedObject, SyncContext } from '../../../src/backends/cluster.ts';
import type { PodGang } from '../../../src/api/pod-gang.ts';
import type { Resource } from '../../../src/k8s/resource.ts';
import { newlyIgnored, ignoredTerms, type Preempts } from '../../../src/backends/shared-warnings.ts';

export const CARTS: Resource = {
  group: 'cart.example.com',
  version: 'v1',
  plural: 'carts',
  kind: 'Cart',
  namespaced: true,
};
export const ANNOTATION_CART = 'cart.example.com/cart';
export const LABEL_GROUP = 'cart.example.com/group';
export const GATE_CART = 'cart.example.com/loaded';

export const cart = (gang: PodGang, name = gang.name): OwnedObject => ({
  resource: CARTS,
  name,
  labels: { 'cart.example.com/made-for': gang.name },
  spec: { seats: gang.spec.groups.reduce((sum, { minReplicas }) => sum + minReplicas, 0) },
});

/** How its scheduler preempts, whatever a gang says. */
export const CART_PREEMPTS: Preempts = {
  scheduler: 'cart',
  always: { mode: 'Pod', says: 'it unloads Pods one by one' },
};

/** A backend in which nothing is wrong: each of the broken ones differs from it in one thing. */
export const soundBackend = ({ config }: BackendSettings): Backend => {
  readProfileConfig(config, {});
  return {
    contractVersion: BACKEND_CONTRACT_VERSION,
    name: 'cart',
    schedulerName: 'cart-scheduler',
    patchSurface: {
      schedulerName: true,
      annotations: [ANNOTATION_CART],
      labels: [LABEL_GROUP],
      gates: [GATE_CART],
    },
    init: () => Promise.resolve({ version: 'cart.example.com/v1' }),
    preparePod: (_pod, gang, patch) => {
      patch.setSchedulerName('cart-scheduler', 'it is asked for');
      patch.annotate(ANNOTATION_CART, gang.gang, 'the cart it goes in');
      patch.label(LABEL_GROUP, gang.group, 'where it sits');
      patch.addGate(GATE_CART, 'it waits for its cart');
    },
    validatePodGang: (gang) => ({
      faults: [],
      warnings: ['carts are slow', ...ignoredTerms(gang, CART_PREEMPTS)],
    }),
    warnOfUpdate: (before, after) => newlyIgnored(before, after, CART_PREEMPTS),
    syncPodGang: async (context: SyncContext, gang: PodGang) => {
      await context.apply(cart(gang));
    },
    onPodGangDelete: () => Promise.resolve(),
    owns: () => [CARTS],
    releaseOrder: () => 'all-at-once',
    explain: (objects) => (objects.length === 0 ? undefined : 'the cart is full'),
  };
};

/** The sound backend with some members replaced. */
export const changed = (
  change: (sound: Backend, settings: BackendSettings) => Partial<Record<keyof Backend, unknown>>,
  factory: Partial<BackendFactory> = {},
): BackendFactory => ({
  name: 'cart',
  create: (settings) => {
    const sound = soundBackend(settings);
    return { ...sound, ...(change(sound, settings) as Partial<Backend>) };
  },
  ...factory,
});

export interface BrokenBackend {
  /** The one rule that it breaks. */
  readonly breaks: string;
  readonly how: string;
  readonly says: string;
  readonly factory: BackendFactory;
}
