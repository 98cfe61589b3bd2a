import type { Change } from '../json/patch.ts';
import { JsonPodPatch } from '../admission/pod-patch.ts';
import { ReceivedPod } from '../admission/pod-reader.ts';
import type { Fault } from '../api/fault.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { ANNOTATION_HPC_POLICY } from '../api/names.ts';
import type { PodGang } from '../api/pod-gang.ts';
import type { Membership } from '../gang/membership.ts';
import { parseHpcPolicy, type HpcPolicy } from '../preparers/policy/hpc-policy.ts';
import type { ObjectsGiven, PreparerFactory } from '../preparers/preparer-factory.ts';
import { preparePod } from '../preparers/prepare.ts';
import type { Preparer } from '../preparers/preparer.ts';
import { broken } from './check.ts';
import { sampleGang } from './sample-gangs.ts';
import { Random, samplePod } from './sample-pods.ts';

/** The HPCPolicy and the Pods that a preparation is checked with. */
export interface PreparationSettings {
  /** `spec` of an HPCPolicy that asks for the preparation. */
  readonly spec: JsonObject;
  /** Fields of the Pods' container, such as its resource requests. */
  readonly container?: JsonObject;
}

/** A gang's Pod before admission. */
export interface GangsPod {
  readonly gang: PodGang;
  readonly member: Membership;
  readonly pod: JsonObject;
}

/** The Pod with the changes and faults of admission. */
export interface PreparedPod extends GangsPod {
  readonly changes: readonly Change[];
  readonly faults: readonly Fault[];
}

const POLICY = 'sample';
const GROUPS = { leader: 1, worker: 3 };
const GANGS = ['train', 'x', `g${'-long'.repeat(11)}`] as const;
const PODS = 200;
/** Arguments that a shell, a template or a naive split would change. */
const WORDS = ['--', '', '$(HOME)', '*.toml', 'a b', "it's", '"', '\\', '-c', 'lmp'] as const;

/** The preparation that is checked, with the same Pods and gangs in every run. */
export class PreparationSubject {
  readonly preparation: PreparerFactory;
  readonly policy: HpcPolicy;
  readonly pods: readonly GangsPod[];
  readonly #faults: readonly Fault[];

  constructor(preparation: PreparerFactory, { spec, container = {} }: PreparationSettings) {
    this.preparation = preparation;
    const { policy, faults } = policyOf(spec);
    this.policy = policy;
    this.#faults = faults;
    const random = new Random(1);
    this.pods = Array.from({ length: PODS }, () => gangsPod(random, container));
  }

  /**
   * The preparer for a gang's Pods.
   * @throws ConformanceFailure where the policy has faults or does not ask for the preparation
   */
  preparerOf(gang: PodGang): Preparer {
    const [wrong] = this.#faults;
    if (wrong !== undefined)
      throw broken(`the HPCPolicy that is given is wrong: ${wrong.field}: ${wrong.message}`);
    const preparer = this.preparation.preparer(gang, this.policy);
    if (preparer === undefined)
      throw broken('preparer() gives nobody, though the HPCPolicy that is given asks for it');
    return preparer;
  }

  /** Prepares a Pod as admission does, after a backend that changes nothing. */
  prepared(one: GangsPod): PreparedPod {
    const { gang, member, pod } = one;
    const patch = new JsonPodPatch(pod);
    const given = { pod: new ReceivedPod(pod, member.namespace), gang: member, patch };
    const faults = preparePod(undefined, [this.preparerOf(gang)], given);
    return { ...one, faults, changes: faults.length === 0 ? patch.changes() : [] };
  }

  /** All sample Pods as prepared, without those that are refused. */
  allPrepared(): PreparedPod[] {
    return this.pods.map((one) => this.prepared(one)).filter(({ faults }) => faults.length === 0);
  }

  objectsOf(gang: PodGang): readonly JsonObject[] {
    return this.preparation.objects(gang, this.policy, GIVEN);
  }
}

/** A fixed certificate for each gang, so that a gang's objects depend on the gang and its policy alone. */
const GIVEN: ObjectsGiven = { certificate: (gang) => `a certificate of ${gang}` };

export const policyOf = (spec: JsonObject): ReturnType<typeof parseHpcPolicy> =>
  parseHpcPolicy({ metadata: { name: POLICY, namespace: 'ml' }, spec }, 'ml', 'any');

export const hpcGang = (name: string, namespace = 'ml'): PodGang =>
  sampleGang({ annotations: { [ANNOTATION_HPC_POLICY]: POLICY } }, GROUPS, { name, namespace });

function gangsPod(random: Random, fields: JsonObject): GangsPod {
  const namespace = random.pick(['ml', 'web']);
  const gang = hpcGang(random.pick(GANGS), namespace);
  const [group, count] = random.pick([
    ['leader', 1],
    ['worker', 3],
  ] as const);
  const host = `${group}-${random.below(count)}`;
  const some = (most: number, make: (index: number) => JsonObject): Json =>
    Array.from({ length: random.below(most + 1) }, (_, index) => make(index));
  const container: JsonObject = {
    name: 'main',
    image: 'example/program:1',
    command: ['program', ...random.list(3, () => random.pick(WORDS))],
    ...(random.chance(60) && { args: random.list(4, () => random.pick(WORDS)) }),
    ...(random.chance(60) && {
      env: some(3, (index) => ({ name: `OWN_${index}`, value: random.pick(WORDS) })),
    }),
    ...(random.chance(40) && {
      volumeMounts: some(2, (index) => ({ name: 'own-0', mountPath: `/own/${index}` })),
    }),
    ...fields,
  };
  const spec: JsonObject = {
    hostname: host,
    ...(random.chance(30) && { subdomain: 'own' }),
    ...(random.chance(50) && { volumes: some(3, (index) => ({ name: `own-${index}`, emptyDir: {} })) }),
    ...(random.chance(30) && { initContainers: [{ name: 'own', image: 'example/own:1' }] }),
    ...(random.chance(30) && { affinity: {} }),
    containers: [container],
  };
  const name = `${group}-${random.below(count)}`;
  const pod = samplePod(gang.name, group, { namespace, metadata: { name }, spec });
  return { gang, member: { namespace, gang: gang.name, group, baseGang: undefined }, pod };
}
