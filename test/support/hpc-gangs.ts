import type { Policy } from '../../src/admission/policy.ts';
import type { Json, JsonObject } from '../../src/api/json.ts';
import { parsePodGang } from '../../src/gang/parse-pod-gang.ts';
import { parseHpcPolicy } from '../../src/hpc/hpc-policy.ts';
import type { HpcPolicies } from '../../src/preparers/preparation.ts';
import { hpcPolicy } from './hpc.ts';
import { group, podGang } from './pod-gangs.ts';
import { gangPod, type GangPodParts } from './pods.ts';
import { policy } from './policy.ts';

/** The gang `train` of `ml`, with 4 Pods in group `worker`, that names the HPCPolicy `flux`. */
export const hpcGang = (annotations: Record<string, string> = {}): JsonObject =>
  podGang({
    annotations: { 'muster.dev/hpc-policy': 'flux', ...annotations },
    groups: [group('worker', { minReplicas: 4 })],
  });

/** What a cluster knows that has this gang, and the HPCPolicy where one is given. */
export function underHpc(
  settings: Json | undefined = {},
  { gang = hpcGang(), spec, ...more }: { gang?: JsonObject; spec?: Json } & Partial<HpcPolicies> = {},
): Policy {
  const known = parsePodGang(gang, 'ml').gang;
  const read = parseHpcPolicy(hpcPolicy(spec ?? { hpc: { manager: 'flux', settings } }), 'ml');
  const stored = { policy: read.policy, wrong: read.faults[0]?.field };
  return {
    ...policy({
      placement: {
        ofGang: () => undefined,
        ofNamespace: () => undefined,
        gang: (namespace, name) => (namespace === 'ml' && name === known.name ? known : undefined),
      },
    }),
    hpc: {
      known: true,
      get: (namespace, name) => (namespace === 'ml' && name === 'flux' ? stored : undefined),
      anyIn: () => true,
      ...more,
    },
  };
}

/** A Pod of that gang, as an Indexed Job `worker` makes it. */
export const hpcPod = ({ spec = {}, ...parts }: GangPodParts = {}, container: Json = {}): JsonObject =>
  gangPod({
    ...parts,
    spec: {
      hostname: 'worker-0',
      restartPolicy: 'Never',
      containers: [{ name: 'main', image: 'lammps', command: ['lmp'], ...(container as object) }],
      ...spec,
    },
  });
