// The cost of a decision without server, socket and TLS: `node bench/decide.ts`. For each backend and size, in
// microseconds: reading the JSON (what everybody pays), checking and deciding and rendering (what Muster adds), and
// the backend's preparePod alone.
import { decideRequest } from '../src/admission/endpoints.ts';
import { JsonPodPatch, withinSurface } from '../src/admission/pod-patch.ts';
import { ReceivedPod } from '../src/admission/pod-reader.ts';
import { renderResponse } from '../src/admission/response.ts';
import { parseReview } from '../src/admission/review.ts';
import { builtInBackends } from '../src/backends/registry.ts';
import type { Backend } from '../src/backends/backend.ts';
import { membershipOf } from '../src/gang/membership.ts';
import { decisionPolicy, mutatePodEndpoint } from './decision-policy.ts';
import { median } from './histogram.ts';
import { reviewOf, SIZES } from './reviews.ts';

/** Samples, and calls in one sample: one call is too short for the clock. */
const SAMPLES = 200;
const CALLS = 100;

/** Median microseconds per call of `work`, after a warm-up of the same length. */
function microsOf(work: () => unknown, calls = CALLS): number {
  const samples: number[] = [];
  for (let sample = 0; sample < 2 * SAMPLES; sample += 1) {
    const before = process.hrtime.bigint();
    for (let call = 0; call < calls; call += 1) sink = work();
    samples.push(Number(process.hrtime.bigint() - before) / 1000 / calls);
  }
  return median(samples.slice(SAMPLES));
}

/** Keeps the compiler from leaving out work whose result nobody reads. */
let sink: unknown;

function preparing(review: unknown, backend: Backend): () => unknown {
  const { object, namespace } = parseReview(review);
  if (object === undefined) throw new Error('a review without an object');
  const pod = new ReceivedPod(object, namespace);
  const gang = membershipOf(namespace, (key) => pod.label(key));
  return () => {
    const patch = new JsonPodPatch(object);
    backend.preparePod(pod, gang, withinSurface(patch, backend));
    return patch.changes();
  };
}

const print = (cells: readonly string[]): void =>
  void process.stdout.write(
    `| ${cells.map((cell, index) => cell.padEnd(index === 0 ? 18 : 10)).join(' | ')} |\n`,
  );

print(['backend', 'KiB', 'JSON.parse', 'decision', 'preparePod']);
print(['---', '---', '---:', '---:', '---:']);
for (const { name } of builtInBackends) {
  const policy = decisionPolicy({ name });
  for (const size of SIZES) {
    const text = JSON.stringify(reviewOf(size));
    const review = JSON.parse(text) as unknown;
    const parsing = microsOf(() => JSON.parse(text) as unknown, Math.max(1, Math.round(CALLS / size)));
    const deciding = microsOf(() => {
      const request = parseReview(review);
      return renderResponse(request, decideRequest(mutatePodEndpoint, request, policy));
    });
    const prepare = microsOf(preparing(review, policy.registry.default));
    print([name, String(size), parsing.toFixed(1), deciding.toFixed(1), prepare.toFixed(1)]);
  }
}
if (sink === undefined) process.exitCode = 1;
