import type { Client } from '../control-plane/client.ts';
import { GANGS as NATIVE_GANGS, RELEASE } from '../control-plane/releases.ts';
import { until } from '../control-plane/until.ts';
import type { StoredPod } from './etcd-history.ts';
import { isGated } from './gang-judge.ts';
import { GANGS, GATE, gangPod, PODS } from './registered-muster.ts';

/** For a control plane without gangs of its own: a Pod that has not been through admission is in none of them. */
export const WITHOUT_NATIVE_GANGS = {
  featureGates: Object.fromEntries(Object.keys(RELEASE.featureGates).map((gate) => [gate, false])),
  runtimeConfig: NATIVE_GANGS === undefined ? {} : { [NATIVE_GANGS]: 'false' },
};

/** Gangs of one group, whose Pods have their gate from the start: for tests that are not about admission. */
export interface SmallGangs {
  create(gang: string, minReplicas: number): Promise<void>;
  /** The Pod `<gang>-<index>`. */
  createPod(gang: string, index: number): Promise<void>;
  isFree(gang: string, index: number): Promise<boolean>;
  /** @returns milliseconds since `since` (of `performance.now`) when the gate was seen off */
  untilFree(gang: string, index: number, since: number): Promise<number>;
}

export function smallGangs(client: Client): SmallGangs {
  const isFree = async (gang: string, index: number): Promise<boolean> =>
    !isGated(await client.ok<StoredPod>('GET', `${PODS}/${gang}-${index}`));
  return {
    isFree,
    create: async (name, minReplicas) => {
      await client.ok('POST', GANGS, {
        apiVersion: 'scheduler.grove.io/v1alpha1',
        kind: 'PodGang',
        metadata: { name, labels: { 'grove.io/scheduler-name': 'default-scheduler' } },
        spec: { podgroups: [{ name: 'worker', minReplicas, podReferences: [] }] },
      });
    },
    createPod: async (gang, index) => {
      const gate = { schedulingGates: [{ name: GATE }] };
      await client.ok(
        'POST',
        PODS,
        gangPod({ name: `${gang}-${index}` }, gate, { 'grove.io/podgang': gang }),
      );
    },
    untilFree: async (gang, index, since) => {
      await until(`the gate of ${gang}-${index} is off`, () => isFree(gang, index), {
        everyMs: 20,
        withinMs: 60_000,
      });
      return Math.round(performance.now() - since);
    },
  };
}
