import { backend } from '../backends.ts';

/** A backend that keeps something elsewhere for each gang, so that it must hear of each one's end. Tells when it does. */
export default backend('cleaning-scheduler', {
  cleansUp: true,
  onPodGangDelete: (context, { name }) => Promise.resolve(context.warn(`cleaned up after ${name}`)),
});
