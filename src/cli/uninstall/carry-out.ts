import { setTimeout as sleep } from 'node:timers/promises';
import { MusterError } from '../../errors.ts';
import { isForbidden, isNotFound, isUnreachable } from '../../kube/client/errors.ts';
import type { KubeObject, Target } from '../../kube/client/resources.ts';
import { withoutRight, type Where } from './read.ts';
import type { UninstallStep } from './steps.ts';
import { targetName, type StepWork, type Write } from './write.ts';

/** Writes that are in flight at once: a cluster may have thousands of Pods that wait. */
const PARALLEL = 16;
/** How often a step is looked at again: a policy that is deleted protects gates for a second or two more. */
const ROUNDS = 6;
const LOOK_MS = 500;

/** How long things may take, in ms. */
export interface UninstallLimits {
  /** Until every API server has noticed a deletion. */
  readonly settleMs: number;
  /** Until a deleted object is gone: a Deployment drains, a namespace empties. */
  readonly goneMs: number;
}

/**
 * Does a step, and looks again until nothing of it is left to do.
 * @returns every write that was made
 * @throws MusterError CLUSTER_REFUSED, UNINSTALL_HELD
 */
export async function carryOutStep(
  step: UninstallStep,
  where: Where,
  patience: UninstallLimits,
): Promise<StepWork> {
  const made = new Map<string, Write>();
  for (let round = 1; ; round += 1) {
    const { writes, stays } = await step.find(where);
    if (writes.length === 0) return { writes: [...made.values()], stays };
    if (round > ROUNDS) throw comesBack(step, writes);
    const [failure] = await makeAll(where, writes);
    if (failure !== undefined && round === ROUNDS) throw failure;
    for (const write of writes) made.set(targetName(write.target), write);
    if (step.then === 'wait' && failure === undefined) await untilGone(where, writes, patience);
    if (step.then === 'settle' || failure !== undefined || round > 1) await sleep(patience.settleMs);
  }
}

/** @returns the errors of those that failed, which the next round tries again */
async function makeAll({ client }: Where, writes: readonly Write[]): Promise<Error[]> {
  const failures: Error[] = [];
  // A binding goes before its policy: a kind begins when the one before it has ended.
  for (const kind of new Set(writes.map(({ target }) => target.resource.plural))) {
    const queue = writes.filter(({ target }) => target.resource.plural === kind).values();
    const work = async (): Promise<void> => {
      for (const { target, patch, foreground } of queue) {
        try {
          if (patch !== undefined) await client.jsonPatch(target, patch.operations, { answer: 'nothing' });
          else
            await client.delete(target, {
              propagationPolicy: foreground === true ? 'Foreground' : 'Background',
            });
        } catch (error) {
          if (isNotFound(error)) continue;
          if (isUnreachable(error)) throw error;
          failures.push(isForbidden(error) ? withoutRight(error) : (error as Error));
        }
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
  }
  return failures;
}

async function untilGone(
  { client }: Where,
  writes: readonly Write[],
  { goneMs }: UninstallLimits,
): Promise<void> {
  const until = Date.now() + goneMs;
  for (const { target } of writes) {
    for (;;) {
      const object = await client.get<KubeObject>(target).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      if (object === undefined || object.metadata.deletionTimestamp === undefined) break;
      if (Date.now() > until) throw held(target, object, goneMs / 1000);
      await sleep(LOOK_MS);
    }
  }
}

function held(
  target: Target,
  { metadata: { finalizers = [] }, status }: KubeObject,
  seconds: number,
): MusterError {
  const conditions = (status as { conditions?: { status?: string; message?: string }[] } | undefined)
    ?.conditions;
  const said = (conditions ?? []).flatMap(({ status: is, message }) =>
    is === 'True' ? (message ?? []) : [],
  );
  const why = [...finalizers.map((one) => `finalizer ${one}`), ...said].join('; ');
  return new MusterError(
    'UNINSTALL_HELD',
    `${targetName(target)} is deleted and not gone after ${seconds} s${why === '' ? '' : `: ${why}`}`,
    'Remove what holds it, then run it again: what is done already is not done twice.',
  );
}

const comesBack = ({ name }: UninstallStep, [first]: readonly Write[]): MusterError =>
  new MusterError(
    'UNINSTALL_HELD',
    `${first === undefined ? name : targetName(first.target)} comes back each time it is deleted or changed`,
    'Somebody applies it again, such as Argo CD, Flux or an operator: take Muster away there first, then run it again.',
  );
