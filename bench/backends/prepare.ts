import type { Policy } from '../../src/admission/policy.ts';
import { decideRequest, admissionWebhooks, type AdmissionWebhook } from '../../src/admission/endpoints.ts';
import { renderResponse } from '../../src/admission/response.ts';
import { orUntouched, parseReview, type AdmissionRequest } from '../../src/admission/review.ts';
import { LABEL_POD_CLIQUE, PATH_MUTATE_POD } from '../../src/api/names.ts';
import { BackendRegistry, type BackendProfile } from '../../src/backends/registry.ts';
import { meanOf, median, type Estimate } from '../measure/interval.ts';
import { bodyOf, reviewOf } from '../admission/reviews.ts';

/** What a Pod's CREATE is decided by. */
const mutatePodEndpoint = admissionWebhooks.find(({ path }) => path === PATH_MUTATE_POD) as AdmissionWebhook;

/** A configuration with one backend, of which nobody has asked a cluster. */
function decisionPolicy(profile: BackendProfile): Policy {
  return {
    registry: new BackendRegistry([profile], profile.name),
    trustedAccounts: new Set(),
    exemptNamespaces: new Set(['kube-system']),
    topology: { enabled: false, keys: [] },
  };
}

/** One way to prepare a Pod. */
interface Candidate {
  readonly title: string;
  readonly profile: BackendProfile;
  /** Of the Pod; absent: that of every benchmarked Pod. */
  readonly group?: string;
  /** Paths below which the decision must change something: a decision that does nothing would be quick. */
  readonly changes: readonly string[];
}

export interface PrepareTiming {
  /** In which each candidate has its turn. */
  readonly rounds: number;
  /** In one turn: one is too short for the clock. */
  readonly decisions: number;
}

/** Microseconds of one decision, and how much more that is than the base's in the same round. */
export interface PrepareRow {
  readonly title: string;
  readonly wall: number;
  readonly cpu: number;
  readonly moreWall: Estimate;
  readonly moreCpu: Estimate;
}

/** As many Pods as come from a ReplicaSet at once, so that no decision has its Pod in the nearest cache. */
const PODS = 32;
/** Valid as a label's value and no DNS label, so its PodGroup gets a name with a hash. */
const LONG_GROUP = `Decode.${'workers-of-the-second-tier.'.repeat(2)}A`;

/** The one with the least to do comes first: gates alone. */
const CANDIDATES: readonly Candidate[] = [
  {
    title: 'kube, gates alone',
    profile: kube({ gangScheduling: false }),
    changes: ['/spec/schedulingGates'],
  },
  {
    title: 'kube, v1beta1',
    profile: kube({ api: 'v1beta1' }),
    changes: ['/spec/schedulingGates', '/spec/schedulingGroup'],
  },
  {
    title: 'kube, v1beta1, a hash in the name',
    profile: kube({ api: 'v1beta1', groups: 'per-group' }),
    group: LONG_GROUP,
    changes: ['/spec/schedulingGates', '/spec/schedulingGroup'],
  },
  ...['kai-scheduler', 'volcano', 'coscheduling'].map((name) => ({
    title: name,
    profile: { name },
    changes: ['/spec/schedulingGates', '/spec/schedulerName', '/metadata/'],
  })),
];

function kube(config: Record<string, unknown>): BackendProfile {
  return { name: 'default-scheduler', config };
}

/** What deciding about a Pod costs with each backend; nothing else than the decision, in this process. */
export function measurePrepare({ rounds, decisions }: PrepareTiming): PrepareRow[] {
  const runs = CANDIDATES.map((candidate) => ({ ...candidate, decide: decider(candidate) }));
  const samples = runs.map(() => ({ wall: [] as number[], cpu: [] as number[] }));
  // The first half is for the compiler.
  for (let round = -rounds; round < rounds; round += 1) {
    for (const [index, { decide }] of runs.entries()) {
      const since = performance.now();
      const { user, system } = process.cpuUsage();
      for (let call = 0; call < decisions; call += 1) decide(call);
      const used = process.cpuUsage({ user, system });
      const wall = (performance.now() - since) * 1000;
      if (round < 0) continue;
      samples[index]?.wall.push(wall / decisions);
      samples[index]?.cpu.push((used.user + used.system) / decisions);
    }
  }
  const base = samples[0];
  const more = (own: readonly number[], least: readonly number[] = []): Estimate =>
    meanOf(own.map((value, round) => value - (least[round] ?? Number.NaN)));
  return samples.map(({ wall, cpu }, index) => ({
    title: runs[index]?.title ?? '',
    wall: median(wall),
    cpu: median(cpu),
    moreWall: more(wall, base?.wall),
    moreCpu: more(cpu, base?.cpu),
  }));
}

/** @throws where the decision is not the one that is to be measured */
function decider({ title, profile, group, changes }: Candidate): (call: number) => void {
  const policy = decisionPolicy(profile);
  const requests = Array.from({ length: PODS }, (_, variant) => requestOf(variant, group));
  const decided = orUntouched(decideRequest(mutatePodEndpoint, requests[0] as AdmissionRequest, policy));
  const missing = changes.filter(
    (path) => !decided.changes.some((change) => change.operation.path.startsWith(path)),
  );
  if (decided.faults.length > 0 || missing.length > 0 || decided.warnings.length > 0) {
    throw new Error(`${title}: the decision is ${JSON.stringify(decided)}`);
  }
  const answer = renderResponse(requests[0] as AdmissionRequest, decided);
  return (call) => {
    const request = requests[call % PODS] as AdmissionRequest;
    const decision = decideRequest(mutatePodEndpoint, request, policy);
    const rendered = renderResponse(request, orUntouched(decision));
    // The Pods differ, at the same places and lengths. A result that somebody reads is also one that is computed.
    if (rendered.length !== answer.length) throw new Error(`${title}: another answer: ${rendered}`);
  };
}

function requestOf(variant: number, group: string | undefined): AdmissionRequest {
  const review = reviewOf(bodyOf(8), variant) as {
    request: { object: { metadata: { labels: Record<string, string> } } };
  };
  if (group !== undefined) review.request.object.metadata.labels[LABEL_POD_CLIQUE] = group;
  // As it comes from the wire: what JSON.parse makes has other shapes than what the program writes.
  return parseReview(JSON.parse(JSON.stringify(review)) as unknown);
}
