import type { Policy } from '../../src/admission/policy.ts';
import { parsePodGang } from '../../src/gang/parse-pod-gang.ts';
import type { JsonObject } from '../../src/json/json.ts';
import { parseHpcPolicy } from '../../src/preparers/policy/hpc-policy.ts';
import { hpcPolicy } from './hpc.ts';
import { group, podGang } from './pod-gangs.ts';
import { policy } from './policy.ts';

export const CLUSTER_NAMESPACES = ['ml', 'hpc'];
const gangIn = (namespace: string, name: string, minReplicas: number) =>
  parsePodGang(
    podGang({
      metadata: { name, namespace },
      annotations: { 'muster.dev/hpc-policy': 'flux' },
      groups: [group('worker', { minReplicas }), group('lead', { minReplicas: 2 })],
    }),
    namespace,
  ).gang;

const specOf = (settings: JsonObject) => ({
  policy: parseHpcPolicy(hpcPolicy({ hpc: { manager: 'flux', settings } }), 'ml').policy,
  wrong: undefined,
});

/** Two namespaces with gangs and HPCPolicies of equal names, which change as they do in a cluster: for new objects. */
export class HpcCluster {
  readonly policy: Policy;
  readonly #gangs = new Map<string, ReturnType<typeof gangIn>>();
  readonly #policies = new Map<string, ReturnType<typeof specOf>>();

  constructor() {
    for (const namespace of CLUSTER_NAMESPACES) {
      this.#policies.set(namespace, specOf({}));
      for (const name of ['train', 'other'])
        this.#gangs.set(`${namespace}/${name}`, gangIn(namespace, name, 4));
    }
    this.policy = {
      ...policy({
        enabled: ['kai-scheduler', 'default-scheduler'],
        placement: {
          ofGang: () => undefined,
          ofNamespace: () => undefined,
          gang: (namespace, name) => this.#gangs.get(`${namespace}/${name}`),
        },
      }),
      hpc: { known: true, get: (namespace) => this.#policies.get(namespace), anyIn: () => true },
    };
  }

  edit(namespace: string, settings: JsonObject): void {
    this.#policies.set(namespace, specOf(settings));
  }

  scale(namespace: string, minReplicas: number): void {
    this.#gangs.set(`${namespace}/train`, gangIn(namespace, 'train', minReplicas));
  }
}
