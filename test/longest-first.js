import Sequencer from '@jest/test-sequencer';

/**
 * What takes long begins first, so that at the end no worker waits for another. Durations of the run before are known
 * where jest's cache is; on a fresh clone the suites that start control planes come first, the larger files before the
 * smaller ones.
 */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const guess = ({ path, duration }) => duration ?? (path.includes('/test/cluster/') ? 30_000 : 0);
    return super.sort(tests).sort((a, b) => guess(b) - guess(a));
  }
}
