import { own, ownObject, ownList, ownString, type JsonObject, type Json } from '../../json/json.ts';
import type { LeaseRecord } from '../../kube/loop/lease-record.ts';
import { imageOf } from './program-objects.ts';
import {
  saying,
  RIGHTS_FIX,
  valueOf,
  patchCommand,
  type Diagnosis,
  type Say,
  type Read,
} from './diagnosis.ts';
import { objectName } from '../../k8s/resource.ts';

/** Muster's Deployment and Lease, as the cluster stores them. */
export interface Program {
  readonly now: Date;
  readonly namespace: string;
  /** Version of the API server, such as `v1.36.3`. */
  readonly kubernetes: string;
  /** Version of the Muster that runs `muster doctor`. */
  readonly muster: string;
  readonly deployment: Read<JsonObject>;
  /** `namespace/name` of the Lease, and the Lease; undefined where leader election is off in the configuration. */
  readonly lease: { readonly key: string; readonly read: Read<LeaseRecord> } | undefined;
}

/** Minor versions of Kubernetes: the first with ValidatingAdmissionPolicy v1, and the first with all that Muster uses. */
const OLDEST = 30;
const COMPLETE = 36;

export function checkVersion(kubernetes: string): Diagnosis {
  const say = saying('cluster', 'version');
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(kubernetes) ?? [];
  if (major === undefined || minor === undefined)
    return say.notChecked(
      `the API server calls itself ${kubernetes || 'nothing'}`,
      'compare with docs/manifests.md',
    );
  if (major !== '1' || Number(minor) >= COMPLETE) return say.ok(`Kubernetes ${kubernetes}`);
  return Number(minor) >= OLDEST
    ? say.warning(
        `Kubernetes ${kubernetes} serves no MutatingAdmissionPolicy v1, and its native gangs are older or absent`,
        `install with kubectl apply -k manifests/overlays/kubernetes-1.35; docs/backends.md leads to what gangs are here`,
      )
    : say.problem(
        `Kubernetes ${kubernetes} does not serve ValidatingAdmissionPolicy v1, which Muster's manifests need`,
        `upgrade to Kubernetes 1.${OLDEST} or later`,
      );
}

export const checkProgram = (program: Program): readonly Diagnosis[] => [
  ...checkDeployment(program),
  checkLeader(saying('program', 'leader'), program, {
    never: 'the loop has never run, and no gang moves',
    idle: 'no gang moves',
    fix: `kubectl -n ${program.namespace} logs deploy/muster: it says why nobody leads`,
  }),
];

function checkDeployment({ deployment, namespace, muster }: Program): Diagnosis[] {
  const say = saying('program', 'deployment');
  if (deployment.state === 'unread') return [say.notChecked(deployment.reason, RIGHTS_FIX)];
  if (deployment.state === 'absent') {
    return [
      say.notChecked(
        `there is no Deployment muster in ${namespace}: Muster runs elsewhere, or not at all`,
        'name its namespace with -n, or kubectl apply -k manifests/base',
      ),
    ];
  }
  const wanted = own(ownObject(deployment.value, 'spec'), 'replicas');
  const status = ownObject(deployment.value, 'status');
  const [all, ready] = [Number(wanted ?? 1), Number(own(status, 'readyReplicas') ?? 0)];
  const count = `${ready} of ${all} replicas are ready`;
  const look = `kubectl -n ${namespace} get pods; docs/operations.md, "The webhook is down"`;
  const replicas =
    ready === 0 ? say.problem(count, look) : ready < all ? say.warning(count, look) : say.ok(count);
  return [replicas, checkImage(deployment.value, muster)];
}

function checkImage(deployment: JsonObject, muster: string): Diagnosis {
  const say = saying('program', 'image');
  const image = imageOf(deployment);
  const tag = /:(v?\d+\.\d+\.\d+[^@/]*)(@|$)/.exec(image)?.[1];
  if (tag === undefined)
    return say.notChecked(
      `the image ${image || '(none)'} does not tell its version`,
      'compare with `muster version` inside of it',
    );
  return tag.replace(/^v/, '') === muster
    ? say.ok(`it runs ${muster}, as does this program`)
    : say.warning(
        `it runs ${tag}, this program is ${muster}: what is said here is about ${muster}`,
        `run the doctor of ${tag}, or roll the Deployment`,
      );
}

/** Tolerated difference of clocks (ms): a holder whose Lease expired longer ago than this is gone. */
const SLACK_MS = 30_000;

export const isFresh = ({ renewTime, durationMs }: LeaseRecord, now: Date): boolean =>
  now.getTime() - Date.parse(renewTime) < durationMs + SLACK_MS;

/** Reports whether a replica leads. @param given consequences for the message: nobody ever led; nobody leads now */
export function checkLeader(
  say: Say,
  { lease, now }: Pick<Program, 'lease' | 'now'>,
  { never, idle, fix }: { readonly never: string; readonly idle: string; readonly fix: string },
): Diagnosis {
  if (lease === undefined)
    return say.notChecked(
      'leaderElection is off in the configuration',
      'see that one replica runs, and no more',
    );
  const { key, read } = lease;
  if (read.state === 'unread') return say.notChecked(read.reason, RIGHTS_FIX);
  if (read.state === 'absent') return say.problem(`there is no Lease ${key}: ${never}`, fix);
  const { holder, renewTime } = read.value;
  if (holder === '') return say.problem(`nobody holds the Lease ${key}: ${idle}`, fix);
  return isFresh(read.value, now)
    ? say.ok(`${holder} leads (Lease ${key})`)
    : say.problem(`${holder} has not renewed the Lease ${key} since ${renewTime}: ${idle}`, fix);
}

/** Ten minutes: a rollout takes about one for each replica that drains. */
const LONG_MS = 10 * 60 * 1000;

/** Reports a rollout that does not end: old Pods that go on serving hide that new ones do not start. */
export function checkRollout(deployment: JsonObject, namespace: string, now: Date): Diagnosis[] {
  const say = saying('program', 'rollout');
  const status = ownObject(deployment, 'status');
  const undo = [`kubectl -n ${namespace} rollout undo deployment/muster`];
  const look = `kubectl -n ${namespace} describe pods: their Events say why; or go back to what ran before`;
  const condition = (type: string): JsonObject | undefined =>
    (ownList(status, 'conditions') ?? []).find((one) => ownString(one, 'type') === type) as
      JsonObject | undefined;
  const failure = condition('ReplicaFailure');
  if (ownString(failure, 'status') === 'True') {
    const found = `Pods of the Deployment are not created: ${ownString(failure, 'message') ?? 'no word'}`;
    return [say.problem(found, `mend what the message names; a quota or a policy of ${namespace} mostly`)];
  }
  const number = (key: string): number | undefined => {
    const value = own(status, key);
    return typeof value === 'number' ? value : undefined;
  };
  const [replicas, updated] = [number('replicas'), number('updatedReplicas') ?? 0];
  const progress = condition('Progressing');
  const since = Date.parse(ownString(progress, 'lastUpdateTime') ?? '');
  const count = `${updated} of ${replicas ?? 0} replicas are of the present template`;
  if (ownString(progress, 'status') === 'False') {
    const found = `the rollout is stuck: ${count} (${ownString(progress, 'message') ?? 'no word'})`;
    return [{ ...say.problem(found, look), commands: undo }];
  }
  const generation = own(own(deployment, 'metadata'), 'generation');
  const observed = number('observedGeneration');
  if (observed !== undefined && typeof generation === 'number' && observed < generation) {
    const found = `the Deployment has changed (generation ${generation}), and nobody has taken it up (${observed})`;
    return [
      say.warning(
        found,
        'look again; if it stays: kubectl -n kube-system get pods, for kube-controller-manager',
      ),
    ];
  }
  if (replicas === undefined || updated >= replicas) return [];
  return now.getTime() - since > LONG_MS
    ? [{ ...say.problem(`the rollout does not get on: ${count}`, look), commands: undo }]
    : [say.ok(`a rollout is under way: ${count}`)];
}

/** Reports a PodDisruptionBudget that blocks every eviction, or that lets a drain evict all replicas at once. */
export function checkBudget(budget: Read<JsonObject>, deployment: JsonObject): Diagnosis[] {
  const object = valueOf(budget);
  if (object === undefined) return []; // check-installed.ts reports it
  const say = saying('program', 'budget');
  const spec = ownObject(object, 'spec');
  const replicas = Number(own(ownObject(deployment, 'spec'), 'replicas') ?? 1);
  const least = countOf(own(spec, 'minAvailable'), replicas);
  const most = countOf(own(spec, 'maxUnavailable'), replicas) ?? replicas - (least ?? 0);
  const name = `PodDisruptionBudget ${objectName(object)}`;
  const commands =
    least === undefined || replicas < 2
      ? {}
      : {
          commands: [
            patchCommand(object, [{ op: 'replace', path: '/spec/minAvailable', value: replicas - 1 }]),
          ],
        };
  const fix = `leave one of ${replicas} replicas to a drain: minAvailable ${Math.max(replicas - 1, 0)}`;
  if (most <= 0) {
    const found = `${name} lets no replica of ${replicas} go: nodes with one cannot be drained`;
    return [{ ...say.problem(found, fix), ...commands }];
  }
  if (most < replicas || replicas < 2) return [];
  const found = `${name} lets all ${replicas} replicas go at once: gangs cannot be created while a drain lasts`;
  return [{ ...say.problem(found, fix), ...commands }];
}

/** The value of `minAvailable` or `maxUnavailable`, such as `2` or `50%` of the replicas; Kubernetes rounds up. */
function countOf(value: Json | undefined, replicas: number): number | undefined {
  if (typeof value === 'number') return value;
  const percent = typeof value === 'string' ? /^(\d+)%$/.exec(value)?.[1] : undefined;
  return percent === undefined ? undefined : Math.ceil((Number(percent) * replicas) / 100);
}
