import type { Clock } from '../client/clock.ts';

/** Rings where nothing is heard for so long. */
export interface SilenceAlarm {
  heard(): void;
  cancel(): void;
}

/** One timer, put off when it is due: who hears hundreds of things a second does not set it anew for each. */
export function startSilenceAlarm(clock: Clock, silenceMs: number, ring: () => void): SilenceAlarm {
  let heardAt = clock.now();
  let cancel = (): void => undefined;
  const expect = (ms: number): void => {
    cancel = clock.after(ms, () => {
      const left = heardAt + silenceMs - clock.now();
      if (left > 0) expect(left);
      else ring();
    });
  };
  expect(silenceMs);
  return {
    heard: () => {
      heardAt = clock.now();
    },
    cancel: () => cancel(),
  };
}
