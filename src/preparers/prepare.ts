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

/** Hears that one threw what is no refusal: a defect of its own. */
export type PrepareFailed = (name: string) => void;

/**
 * Lets the backend prepare the Pod, and then the others in their order. Each has its own surface and is asked whatever
 * became of those before, so that one answer names all that is wrong.
 * @param backend undefined: its part is not asked for
 * @returns the refusals; the Pod must not be patched where there is one
 * @throws the first defect, once all were asked
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
