import { backend } from '../backends.ts';

/** A module as a configuration names it. */
export default backend('throwing-scheduler', {
  syncPodGang: () => {
    throw new Error('the wheels came off');
  },
});
