import { fault, type Fault } from '../api/fault.ts';
import { MusterError } from '../errors.ts';
import type { Membership } from '../gang/membership.ts';
import { guardedPatch, type PatchOwner, type PreparerKind } from './guarded-patch.ts';
import { podPartFor, type PodReaderNeeds } from './pod-part.ts';
import { isPodRefused, PodRefused, type PodPatch, type PodReader, type Preparer } from './preparer.ts';

/** The part of a backend that prepares Pods. */
export interface PreparingBackend extends PatchOwner, PodReaderNeeds {
  preparePod(pod: PodReader, gang: Membership, patch: PodPatch): void;
}

/** Called with the name of a preparer that throws anything but PodRefused. */
export type PrepareFailed = (name: string) => void;

/**
 * Runs the backend and then the preparers on one Pod. Each runs whatever the ones before it did, so that one answer names
 * every fault.
 * @param backend undefined: the Pod is not prepared for a scheduler
 * @returns the refusals; the Pod must not be patched where there is one
 * @throws the first defect, once all have run
 */
export function preparePod(
  backend: PreparingBackend | undefined,
  others: readonly Preparer[],
  given: { readonly pod: PodReader; readonly gang: Membership; readonly patch: PodPatch },
  failed?: PrepareFailed,
): Fault[] {
  const { pod, gang, patch } = given;
  const faults: Fault[] = [];
  const defects: unknown[] = [];
  const ask = (who: PatchOwner, kind: PreparerKind, prepare: (patch: PodPatch) => unknown): void => {
    try {
      const returned = prepare(guardedPatch(patch, who, kind));
      if (returned !== undefined) throw notSynchronous(kind, who.name, returned);
    } catch (thrown) {
      if (isPodRefused(thrown)) {
        if (thrown instanceof PodRefused && thrown.faults) faults.push(...thrown.faults);
        else faults.push(fault('BackendFailed', thrown.field, { detail: `${who.name}: ${thrown.message}` }));
        return;
      }
      failed?.(who.name);
      defects.push(thrown);
    }
  };
  if (backend !== undefined) {
    ask(backend, 'backend', (guarded) => backend.preparePod(podPartFor(backend, pod), gang, guarded));
  }
  for (const one of others) ask(one, 'preparer', (guarded) => one.prepare(pod, gang, guarded));
  if (defects.length > 0) throw defects[0];
  return faults;
}

/** The type allows an `async` method here; its patches would come too late, and its failure would end the process. */
function notSynchronous(kind: PreparerKind, name: string, returned: unknown): MusterError {
  Promise.resolve(returned).catch(() => undefined);
  const [called, elsewhere] =
    kind === 'backend' ? ['preparePod', 'syncPodGang'] : ['prepare', 'its own loop'];
  return new MusterError(
    'BACKEND_CONTRACT',
    `${kind} ${name} returned something from ${called}, which is synchronous and returns nothing`,
    `prepare the Pod from what ${called} is given; do the rest in ${elsewhere}`,
  );
}
