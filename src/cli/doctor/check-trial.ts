import { own, ownList, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { GATE_POD_GANG_PENDING, LABEL_POD_CLIQUE, LABEL_POD_GANG } from '../../api/names.ts';
import { saying, reasonOf, type Diagnosis } from './diagnosis.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { ApiError, isNotFound } from '../../kube/client/errors.ts';
import { POD_GANGS, PODS, type KubeObject, type Resource } from '../../kube/client/resources.ts';

/** The API server's answer to a dry run of a create; nothing is stored. */
export type TrialAnswer =
  { readonly stored: JsonObject } | { readonly refusal: string; readonly missing?: boolean };

/** Answers to the dry runs. */
export interface Trials {
  readonly namespace: string;
  /** A gang's Pod without its group label, which only Muster refuses. */
  readonly wrongPod: TrialAnswer;
  readonly pod: TrialAnswer;
  /** A PodGang without groups, which only Muster refuses. */
  readonly wrongGang: TrialAnswer;
}

const NAME = 'muster-doctor';

const trialPod = (namespace: string, complete: boolean): JsonObject => ({
  metadata: {
    name: NAME,
    namespace,
    labels: { [LABEL_POD_GANG]: NAME, ...(complete ? { [LABEL_POD_CLIQUE]: 'trial' } : {}) },
  },
  spec: { containers: [{ name: 'trial', image: 'trial.invalid/trial:1' }] },
});

const trialGang = (namespace: string): JsonObject => ({
  metadata: { name: NAME, namespace },
  spec: { podgroups: [] },
});

/** Whether the API server reaches Muster. The Pod's gate does not prove it: a MutatingAdmissionPolicy adds the gate, too. */
export const checkTrials = ({ namespace, wrongPod, pod, wrongGang }: Trials): readonly Diagnosis[] => [
  asked('pods.muster.dev', `a gang Pod without the label ${LABEL_POD_CLIQUE}`, wrongPod, namespace),
  asked('podgangs.muster.dev', 'a PodGang without groups', wrongGang, namespace),
  gated(pod, namespace),
];

const LOOK = 'kubectl -n muster-system get pods,endpointslices; docs/operations.md, "The webhook is down"';

function asked(webhook: string, what: string, answer: TrialAnswer, namespace: string): Diagnosis {
  const say = saying('admission', 'answers');
  if ('stored' in answer) {
    return say.problem(
      `${what} is let in (dry run in ${namespace}): Muster is not asked, or failurePolicy Ignore hides that it does not answer`,
      LOOK,
    );
  }
  const { refusal } = answer;
  if (refusal.includes(`admission webhook "${webhook}" denied the request`)) {
    return say.ok(`Muster answers for ${webhook}: it refuses ${what} (dry run in ${namespace})`);
  }
  return refusal.includes(`failed calling webhook "${webhook}"`)
    ? say.problem(`the API server gets no answer from Muster: ${refusal}`, LOOK)
    : notTold(`${what} was refused before Muster was asked: ${refusal}`, answer.missing === true);
}

function notTold(found: string, missing: boolean): Diagnosis {
  const say = saying('admission', 'answers');
  return missing
    ? say.notChecked(found, 'install what is missing first, then look again')
    : say.notChecked(found, 'name a namespace in which you may create Pods and PodGangs with --try-in');
}

function gated(answer: TrialAnswer, namespace: string): Diagnosis {
  const say = saying('admission', 'gate');
  if (!('stored' in answer)) {
    return say.notChecked(
      `a gang Pod cannot be created in ${namespace} (dry run): ${answer.refusal}`,
      'name a namespace in which Pods may be created with --try-in',
    );
  }
  const spec = ownObject(answer.stored, 'spec');
  const gates = (ownList(spec, 'schedulingGates') ?? []).map((gate) => own(gate, 'name'));
  return gates.includes(GATE_POD_GANG_PENDING)
    ? say.ok(`a gang Pod gets its gate, and ${ownString(spec, 'schedulerName') ?? 'no scheduler'}`)
    : say.problem(
        `a gang Pod comes in without the gate ${GATE_POD_GANG_PENDING}: its gang may start half`,
        'kubectl apply -k manifests/base and -k manifests/policies',
      );
}

/** Creates, as dry runs, two objects that only Muster refuses and a Pod that Muster prepares. */
export async function dryRuns(client: KubeClient, namespace: string): Promise<Trials> {
  const attemptTo = async (resource: Resource, object: JsonObject): Promise<TrialAnswer> => {
    try {
      // The client sends the object unchanged; the type names only the fields that the client reads.
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
