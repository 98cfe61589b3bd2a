import { backend } from '../backends.ts';

/** A module as a configuration names it. */
export default backend('hanging-scheduler', { syncPodGang: () => new Promise(() => undefined) });
