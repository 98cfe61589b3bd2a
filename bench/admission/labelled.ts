import { reviewEndpoints, type ReviewAnswer } from '../../src/admission/endpoints.ts';
import type { Policy } from '../../src/admission/policy.ts';
import { LABEL_GANG, LABEL_POD_CLIQUE, LABEL_POD_GANG, PATH_MUTATE_POD } from '../../src/api/names.ts';
import { BackendRegistry } from '../../src/backends/registry.ts';
import { parseJson } from '../../src/server/read-body.ts';
import { figure, withInterval, type StageReport } from '../measure/figures.ts';
import { meanOf, plainMean } from '../measure/interval.ts';
import { bodyOf, reviewOf } from './reviews.ts';

export interface LabelledTiming {
  /** In which each of the two has its turn. */
  readonly rounds: number;
  /** In one turn. */
  readonly reviews: number;
}

/** Microseconds: a twentieth of what a whole review of 8 KiB costs the server (docs/benchmarks.md). */
const MOST = 3;
/** As many Pods as come from a ReplicaSet at once. */
const PODS = 32;

/**
 * What a Pod costs whose gang and group are told by its workload (`muster.dev/gang`), beside one with both labels: from the
 * bytes of the body to those of the answer, in this process. TLS, HTTP and the log, which both pay alike, are left out, so
 * it is the difference that is judged, by what a whole review costs.
 */
export function measureLabelled({ rounds, reviews }: LabelledTiming): StageReport {
  const [named, asking] = [reviewer(false), reviewer(true)];
  const [base, more]: [number[], number[]] = [[], []];
  // The first half is for the compiler. Who comes first changes from round to round.
  for (let round = -rounds; round < rounds; round += 1) {
    const turns = [
      { review: named, into: base },
      { review: asking, into: more },
    ];
    for (const { review, into } of round % 2 === 0 ? turns : turns.toReversed()) {
      const { user, system } = process.cpuUsage();
      for (let call = 0; call < reviews; call += 1) review(call);
      const used = process.cpuUsage({ user, system });
      if (round >= 0) into.push((used.user + used.system) / reviews);
    }
  }
  const difference = meanOf(more.map((value, round) => value - (base[round] ?? Number.NaN)));
  return {
    tables: {
      labelled: [
        ['8 KiB, without TLS and HTTP', 'CPU µs', 'more µs'],
        ['a Pod with both labels', plainMean(base).toFixed(1), ''],
        ['a Pod with muster.dev/gang alone', plainMean(more).toFixed(1), withInterval(difference)],
      ],
    },
    figures: [
      figure('labelled', 'more CPU µs per review of a Pod with muster.dev/gang', difference, {
        most: MOST,
      }),
    ],
  };
}

/** @throws where a review is not answered as it should be */
function reviewer(asks: boolean): (call: number) => void {
  const policy: Policy = {
    registry: new BackendRegistry([{ name: 'kai-scheduler' }], 'kai-scheduler'),
    trustedAccounts: new Set(),
    exemptNamespaces: new Set(['kube-system']),
    topology: { enabled: false, keys: [] },
  };
  const deaf = { prepared: () => undefined, decided: () => undefined };
  const endpoint = reviewEndpoints(policy, deaf).find(({ path }) => path === PATH_MUTATE_POD);
  if (endpoint === undefined) throw new Error('nobody answers for Pods');
  const bodies = Array.from({ length: PODS }, (_, variant) => bodyWith(asks, variant));
  const answer = (call: number): ReviewAnswer => {
    const bytes = bodies[call % PODS] ?? Buffer.alloc(0);
    const asked = { remainingMs: 1_000, entire: (): unknown => parseJson(bytes) };
    const found = endpoint.answer(parseJson(bytes, endpoint.unread), asked);
    if (found instanceof Promise) throw new Error('a review had to wait');
    return found;
  };
  const first = answer(0);
  if (first.outcome !== 'patched') throw new Error(`not prepared: ${first.body}`);
  return (call) => {
    if (answer(call).outcome !== 'patched') throw new Error('another answer than the first');
  };
}

function bodyWith(asks: boolean, variant: number): Buffer {
  const review = reviewOf(bodyOf(8), variant) as {
    request: { object: { metadata: { labels: Record<string, string> } } };
  };
  const { labels } = review.request.object.metadata;
  // Both Pods are of a ReplicaSet, and their bodies of nearly the same length.
  if (asks) {
    Reflect.deleteProperty(labels, LABEL_POD_GANG);
    Reflect.deleteProperty(labels, LABEL_POD_CLIQUE);
    labels[LABEL_GANG] = 'true';
    labels['pod-template-hash'] = '6f9d5c7b8d';
  }
  return Buffer.from(JSON.stringify(review));
}
