import { own, ownString, type JsonObject } from '../../../json/json.ts';
import { ANNOTATION_FLEET_TERMS, LABEL_FLEET_QUEUE, TERMS_UNREAD } from '../../../api/names.ts';
import { isSuspended } from '../../../fleet/bindings/owner.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { ApiError } from '../../../kube/client/errors.ts';
import { RESOURCE_BINDINGS } from '../../../kube/client/resources.ts';
import { saying, type Diagnosis } from '../diagnosis.ts';
import { reasonOf, RIGHTS_FIX, valueOf, type Read } from '../read.ts';

const NAME = 'muster-doctor';

/** How Karmada's API server answered an attempt to make a binding in a namespace; nothing was stored. */
export interface BindingTrial {
  readonly namespace: string;
  readonly answer: { readonly stored: JsonObject } | { readonly refusal: string };
}

/** Namespaces whose bindings wait in a queue. */
export const queueNamespaces = (namespaces: Read<readonly JsonObject[]>): string[] =>
  (valueOf(namespaces) ?? []).flatMap((one) => {
    const metadata = own(one, 'metadata');
    const queue = ownString(own(metadata, 'labels'), LABEL_FLEET_QUEUE) ?? '';
    return queue === '' ? [] : [ownString(metadata, 'name') ?? ''];
  });

/** Makes a binding by dry run, as Karmada does for a workload, where one is held; undefined where none is. */
export async function tryBinding(
  client: KubeClient,
  namespaces: Read<readonly JsonObject[]>,
): Promise<BindingTrial | undefined> {
  const [namespace] = queueNamespaces(namespaces);
  if (namespace === undefined) return undefined;
  const binding = {
    metadata: { name: NAME, namespace },
    spec: {
      resource: { apiVersion: 'batch/v1', kind: 'Job', namespace, name: NAME },
      replicas: 1,
      placement: {},
    },
  };
  try {
    const options = { dryRun: true };
    const stored = await client.create<JsonObject>(RESOURCE_BINDINGS, binding, options);
    return { namespace, answer: { stored } };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { namespace, answer: { refusal: reasonOf(error) } };
  }
}

const LOOK =
  'see docs/fleet.md, "Setting it up": the Service of manifests/karmada/queues, the caBundle, and that Karmada reaches Muster';

/** Whether Karmada's API server gets an answer from Muster. */
export function checkBindingTrial(
  namespaces: Read<readonly JsonObject[]>,
  trial: BindingTrial | undefined,
): Diagnosis {
  const say = saying('admission', 'bindings');
  if (namespaces.state === 'unread') return say.notChecked(namespaces.reason, RIGHTS_FIX);
  if (trial === undefined)
    return say.warning(
      `no namespace has the label ${LABEL_FLEET_QUEUE}: no binding is held, whatever queue its workload names`,
      `kubectl label namespace NAME ${LABEL_FLEET_QUEUE}=QUEUE, for each whose workloads are to wait`,
    );
  const { namespace, answer } = trial;
  const where = `dry run in ${namespace}`;
  if ('refusal' in answer) {
    const { refusal } = answer;
    return refusal.includes('failed calling webhook "bindings.muster.dev"')
      ? say.problem(
          `Karmada's API server gets no answer from Muster, so that no binding is made in namespaces with a queue: ${refusal}`,
          LOOK,
        )
      : say.notChecked(`a binding was refused before Muster was asked (${where}): ${refusal}`, RIGHTS_FIX);
  }
  const { stored } = answer;
  const terms = ownString(own(own(stored, 'metadata'), 'annotations'), ANNOTATION_FLEET_TERMS);
  return isSuspended(stored) && terms === TERMS_UNREAD
    ? say.ok(`Muster answers for bindings.muster.dev: a new binding is held (${where})`)
    : say.problem(
        `a new binding is not held (${where}): Karmada's API server does not ask Muster`,
        'kubectl apply -k manifests/karmada/queues, with caBundle as in docs/fleet.md',
      );
}
