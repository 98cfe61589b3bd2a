import { BACKEND_CONTRACT_VERSION, type Backend, type BackendFactory } from '../../src/backends/backend.ts';

/** A backend that does what `parts` says and otherwise only sets its name. */
export const backend = (
  name: string,
  parts: Partial<Backend> = {},
  aliases: Readonly<Record<string, string>> = {},
): BackendFactory => ({
  name,
  aliases,
  create: () => ({
    contractVersion: BACKEND_CONTRACT_VERSION,
    name,
    schedulerName: name,
    patchSurface: { schedulerName: true },
    init: () => Promise.resolve({ version: 'test' }),
    preparePod: (_pod, _gang, patch) =>
      patch.setSchedulerName(parts.schedulerName ?? name, 'it is asked for'),
    validatePodGang: () => ({ faults: [], warnings: [] }),
    syncPodGang: () => Promise.resolve(),
    onPodGangDelete: () => Promise.resolve(),
    ...parts,
  }),
});
