import { own, ownObject, type JsonObject } from '../../json/json.ts';
import type { LeaseRecord } from '../../kube/loop/lease-record.ts';
import { imageOf } from './deployment.ts';
import { saying, type Diagnosis, type Say } from './diagnosis.ts';
import { RIGHTS_FIX, type Read } from './read.ts';

/** Muster itself, as far as the cluster shows it. */
export interface Program {
  readonly now: Date;
  readonly namespace: string;
  /** `v1.36.3` */
  readonly kubernetes: string;
  /** Of the Muster that looks. */
  readonly muster: string;
  readonly deployment: Read<JsonObject>;
  /** `namespace/name` of the Lease, and the Lease; undefined where the configuration asks for none. */
  readonly lease: { readonly key: string; readonly read: Read<LeaseRecord> } | undefined;
}

/** The first that serves ValidatingAdmissionPolicy as v1, and the first with everything. */
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

/** Clocks differ; a holder that is away for longer than this is away. */
const SLACK_MS = 30_000;

export const isFresh = ({ renewTime, durationMs }: LeaseRecord, now: Date): boolean =>
  now.getTime() - Date.parse(renewTime) < durationMs + SLACK_MS;

/** @param given what comes of it where nobody ever led, and where nobody does now */
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
