import type { JsonObject } from '../../json/json.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { ApiError, isNotFound } from '../../kube/client/errors.ts';
import { POD_GANGS, PODS, type KubeObject, type Resource } from '../../kube/client/resources.ts';
import { trialGang, trialPod, type TrialAnswer, type Trials } from './check-trial.ts';
import { reasonOf } from './read.ts';

/** Dry runs of what Muster alone refuses, and of a Pod that it prepares. */
export async function tryOut(client: KubeClient, namespace: string): Promise<Trials> {
  const attemptTo = async (resource: Resource, object: JsonObject): Promise<TrialAnswer> => {
    try {
      // The client sends it as it is; its type only names the fields that clients use.
      const stored = await client.create<JsonObject>(resource, object as unknown as KubeObject, {
        dryRun: true,
      });
      return { stored };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { refusal: reasonOf(error), missing: isNotFound(error) };
    }
  };
  const [wrongPod, pod, wrongGang] = await Promise.all([
    attemptTo(PODS, trialPod(namespace, false)),
    attemptTo(PODS, trialPod(namespace, true)),
    attemptTo(POD_GANGS, trialGang(namespace)),
  ]);
  return { namespace, wrongPod, pod, wrongGang };
}
