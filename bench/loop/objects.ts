import {
  GATE_POD_GANG_PENDING,
  LABEL_BASE_POD_GANG,
  LABEL_POD_CLIQUE,
  LABEL_POD_GANG,
  LABEL_SCHEDULER_NAME,
} from '../../src/api/names.ts';
import type { KubeObject } from '../../src/kube/client/resources.ts';
import { bodyOf, reviewOf } from '../admission/reviews.ts';

/** On every benchmarked Pod: what the observer selects by. */
export const OBSERVED = 'bench.example.com/observed';

/** How many gangs, and Pods in each. */
export interface Shape {
  readonly gangs: number;
  readonly podsPerGang: number;
}

/**
 * Whose Pods they are: Muster's, or those of the bare client, alone or with what nobody can do without, which Muster does
 * not see for want of its label.
 */
export type Contender = 'muster' | 'bare' | 'watching';

const GROUP = 'worker';

export const gangName = (index: number): string => `gang-${String(index).padStart(4, '0')}`;
export const podName = (gang: number, index: number): string => `${gangName(gang)}-worker-${index}`;
/** All gangs of a shape with their Pods. */
export const gangNames = ({ gangs, podsPerGang }: Shape): { name: string; pods: string[] }[] =>
  Array.from({ length: gangs }, (_, gang) => ({
    name: gangName(gang),
    pods: Array.from({ length: podsPerGang }, (_, index) => podName(gang, index)),
  }));
/** The gang that a Pod's name tells. */
export const gangOf = (pod: string): string => pod.slice(0, pod.lastIndexOf('-worker-'));

/** @param labels further ones */
export const benchGang = (
  namespace: string,
  gang: number,
  { podsPerGang }: Shape,
  labels: Readonly<Record<string, string>> = {},
): KubeObject => ({
  metadata: {
    namespace,
    name: gangName(gang),
    labels: { [LABEL_SCHEDULER_NAME]: 'default-scheduler', ...labels },
  },
  spec: { podgroups: [{ name: GROUP, minReplicas: podsPerGang, podReferences: [] }] },
});

/** The Pod of the 8 KiB review, gated as the webhook leaves it; with what the API server adds it is as long again. */
export function benchPod(
  namespace: string,
  { gang, index, contender, base }: { gang: number; index: number; contender: Contender; base?: string },
): KubeObject {
  const { metadata, spec } = template();
  const mine = contender === 'muster' ? [LABEL_POD_GANG, LABEL_POD_CLIQUE] : BARE_LABELS;
  const labels: Record<string, string> = { app: 'llama', [OBSERVED]: 'yes' };
  for (const [at, value] of [gangName(gang), GROUP].entries()) labels[mine[at] ?? ''] = value;
  if (base !== undefined) labels[LABEL_BASE_POD_GANG] = base;
  return {
    metadata: {
      namespace,
      name: podName(gang, index),
      labels,
      annotations: metadata.annotations,
      ownerReferences: metadata.ownerReferences,
    },
    spec: { ...spec, schedulingGates: [{ name: GATE_POD_GANG_PENDING }] },
  };
}

const BARE_LABELS = ['bench.example.com/gang', 'bench.example.com/group'];

interface Template {
  readonly metadata: {
    readonly annotations: Record<string, string>;
    readonly ownerReferences: readonly unknown[];
  };
  readonly spec: Record<string, unknown>;
}
let made: Template | undefined;
const template = (): Template =>
  (made ??= (reviewOf(bodyOf(8)) as { request: { object: Template } }).request.object);

/**
 * Every Pod of a shape, in the order in which they are created. `in turn`: the first of every gang, then the second of
 * every gang …, so that all gangs become complete at the very end, which is the hardest.
 */
export function podsInTurn({ gangs, podsPerGang }: Shape): { gang: number; index: number }[] {
  return Array.from({ length: gangs * podsPerGang }, (_, at) => ({
    gang: at % gangs,
    index: Math.floor(at / gangs),
  }));
}
