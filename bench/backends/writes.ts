import type { Resource } from '../../src/kube/client/resources.ts';
import { loggedLines } from '../loop/writes.ts';

/** Writes of Muster's account, tried ones, whatever came of them; by the API server's own log. */
export interface BackendWrites {
  /** To the objects of the measured gangs. */
  readonly objects: number;
  /** Of these, those that were refused (409, 422 …). */
  readonly refused: number;
  /** To the measured PodGangs, their status included. */
  readonly gangs: number;
  /** To the objects of the probe: it shows that such a write is counted. */
  readonly probe: number;
  /** From the arrival of the first write to such an object to that of the last, ms; 0 of fewer than two. */
  readonly spanMs: number;
}

interface Entry {
  readonly requestURI?: string;
  readonly requestReceivedTimestamp?: string;
  readonly objectRef?: { apiGroup?: string; resource?: string; namespace?: string };
  readonly responseStatus?: { code?: number };
}

/** How many lines there are so far: where a pass begins. */
export const logLength = (logFile: string): number => loggedLines(logFile).length;

/** @param from what {@link logLength} was when the pass began */
export function writesSince(
  logFile: string,
  from: number,
  { kinds, namespace, probe }: { kinds: readonly Resource[]; namespace: string; probe: string },
): BackendWrites {
  const counts = { objects: 0, refused: 0, gangs: 0, probe: 0 };
  const times: number[] = [];
  for (const line of loggedLines(logFile).slice(from)) {
    const {
      requestURI = '',
      requestReceivedTimestamp = '',
      objectRef,
      responseStatus,
    } = JSON.parse(line) as Entry;
    // A backend looks whether the cluster keeps a field by a write that is none.
    if (requestURI.includes('dryRun=')) continue;
    const ofKind = kinds.some(
      ({ group, plural }) => objectRef?.apiGroup === group && objectRef.resource === plural,
    );
    if (ofKind && objectRef?.namespace === probe) counts.probe += 1;
    else if (ofKind) {
      // Wherever it is: a namespace that nobody expected must not hide it.
      counts.objects += 1;
      times.push(Date.parse(requestReceivedTimestamp));
      if ((responseStatus?.code ?? 0) >= 400) counts.refused += 1;
    } else if (objectRef?.resource === 'podgangs' && objectRef.namespace === namespace) counts.gangs += 1;
  }
  const spanMs = times.length < 2 ? 0 : Math.max(...times) - Math.min(...times);
  return { ...counts, spanMs };
}
