import fastJsonPatch, { type Operation } from 'fast-json-patch';
import { isDeepStrictEqual } from 'node:util';
import type { PatchOperation } from './contest.ts';
import { expected } from './reviews.ts';

interface Pod {
  metadata: { annotations: Record<string, string>; labels: Record<string, string> };
  spec: { schedulerName: string; schedulingGates?: { name: string }[] };
}
interface Review {
  request: { uid: string; object: Pod };
}
interface Answer {
  apiVersion?: string;
  kind?: string;
  response?: { uid?: string; allowed?: boolean; patchType?: string; patch?: string };
}

/**
 * Checks one answer to the letter: the envelope, the uid, and that its patch applies to the very Pod that was sent
 * and gives the prepared Pod, nothing more and nothing less: that which `wanted` leads to, where there is one. A server that answers something else is not measured.
 * @throws Error saying what is wrong
 */
export function checkAnswer(
  review: Record<string, unknown>,
  body: string,
  wanted?: readonly PatchOperation[],
): void {
  const { uid, object } = (review as unknown as Review).request;
  const answer = JSON.parse(body) as Answer;
  const { response } = answer;
  if (answer.apiVersion !== 'admission.k8s.io/v1' || answer.kind !== 'AdmissionReview') {
    throw new Error(`the answer is no AdmissionReview: ${body.slice(0, 200)}`);
  }
  if (response?.uid !== uid) throw new Error(`the answer is for ${response?.uid ?? 'no'}, not for ${uid}`);
  if (response.allowed !== true) throw new Error(`the Pod was refused: ${body.slice(0, 500)}`);
  if (response.patchType !== 'JSONPatch' || response.patch === undefined)
    throw new Error('there is no patch');
  const patch = JSON.parse(Buffer.from(response.patch, 'base64').toString('utf8')) as Operation[];
  const patched = fastJsonPatch.applyPatch(structuredClone(object), patch, true).newDocument;
  const expectedPod =
    wanted === undefined
      ? prepared(object)
      : fastJsonPatch.applyPatch(structuredClone(object), structuredClone(wanted) as Operation[]).newDocument;
  if (!isDeepStrictEqual(patched, expectedPod)) {
    throw new Error(`the patch does not lead to the expected Pod: ${JSON.stringify(patch).slice(0, 1000)}`);
  }
}

function prepared(pod: Pod): Pod {
  const result = structuredClone(pod);
  Object.assign(result.metadata.annotations, expected.annotations);
  Object.assign(result.metadata.labels, expected.labels);
  result.spec.schedulerName = expected.schedulerName;
  result.spec.schedulingGates = [{ name: expected.gate }];
  return result;
}
