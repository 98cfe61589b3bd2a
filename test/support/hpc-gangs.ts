import { expect } from '@jest/globals';
import { decideRequest } from '../../src/admission/endpoints.ts';
import type { Policy } from '../../src/admission/policy.ts';
import { parseReview, orUntouched } from '../../src/admission/review.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';
import { ENVIRONMENT_AND_VOLUMES, MANAGED_FIELDS, withoutLists } from '../../src/json/unread-lists.ts';
import { parsePodGang } from '../../src/gang/parse-pod-gang.ts';
import { parseHpcPolicy } from '../../src/preparers/policy/hpc-policy.ts';
import type { HpcPolicies } from '../../src/preparers/preparer-factory.ts';
import { hpcPolicy } from './hpc.ts';
import { group, podGang } from './pod-gangs.ts';
import { gangPod, type GangPodParts } from './pods.ts';
import { policy } from './policy.ts';
import { endpointOf, review } from './reviews.ts';

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

export type PodSpec = Record<string, Json> & { containers: JsonObject[] };
export const specOf = (pod: JsonObject): PodSpec => pod['spec'] as PodSpec;

/** What is stored gets an empty patch and is let in, where the server leaves lists of its review out at first. */
export function expectSettled(stored: JsonObject, under: Policy): void {
  const text = JSON.stringify(review('Pod', { object: stored }));
  const cut = withoutLists(Buffer.from(text), [MANAGED_FIELDS, ENVIRONMENT_AND_VOLUMES]);
  const request = parseReview(JSON.parse(cut), () => JSON.parse(text));
  const second = orUntouched(decideRequest(endpointOf('mutate', 'Pod'), request, under));
  expect([second.faults, second.changes]).toEqual([[], []]);
  const third = orUntouched(decideRequest(endpointOf('validate', 'Pod'), request, under));
  expect(third.faults).toEqual([]);
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
