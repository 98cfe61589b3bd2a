/** Why a contender ends before all of its Pods are bound, and when. */
export interface Ending {
  readonly signal: AbortSignal;
  /** Ends it, if nothing else has done so before. */
  readonly because: (why: string) => void;
  /** What was said first; undefined: it has not been ended. */
  readonly why: () => string | undefined;
  /** Forgets the time. */
  readonly over: () => void;
}

/**
 * @param whole ends all contenders, with the reason that it aborts with
 * @param msLeft undefined: as long as it takes
 */
export function endingOf(whole: AbortSignal, msLeft: number | undefined): Ending {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const because = (why: string): void => {
    clearTimeout(timer);
    controller.abort(why);
  };
  const all = (): void => because(String(whole.reason));
  if (msLeft !== undefined)
    timer = setTimeout(() => because(`its ${minutesOf(msLeft)} minutes were over`), Math.max(0, msLeft));
  if (whole.aborted) all();
  whole.addEventListener('abort', all);
  return {
    signal: controller.signal,
    because,
    why: () => (controller.signal.aborted ? String(controller.signal.reason) : undefined),
    over: () => {
      clearTimeout(timer);
      whole.removeEventListener('abort', all);
    },
  };
}

/** @returns when the signal aborts */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

const minutesOf = (ms: number): string => String(Number((Math.max(0, ms) / 60_000).toFixed(1)));
