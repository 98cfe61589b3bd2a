import { backend } from '../backends.ts';

/** Says at once that it cannot work here. */
export default backend('not-beginning-scheduler', {
  init: () => {
    throw new Error('the engine does not start');
  },
});
