import { backend } from '../backends.ts';
import { forEver } from './for-ever.ts';

/** Does what a label of its gang says, and behaves once there is none. */
const misbehave = (what: string | undefined): void => {
  if (what === 'exit') process.exit(0);
  if (what === 'leak') {
    const kept = new Map<number, number>();
    for (let count = 0; ; count += 1) kept.set(count, count);
  }
  if (what === 'loop') forEver();
  while (what === 'print') console.log('x'.repeat(1_000));
};

export default backend('misbehaving-scheduler', {
  syncPodGang: (_context, gang) => Promise.resolve(misbehave(gang.labels.get('do'))),
  preparePod: (pod, _gang, patch) => {
    misbehave(pod.label('do'));
    patch.setSchedulerName('misbehaving-scheduler', 'it is asked for');
  },
});
