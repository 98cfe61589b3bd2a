import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { clusterSuite } from './control-plane/suite.ts';

const MAIN = join(import.meta.dirname, '../../demo/main.ts');

clusterSuite('the demo', () => {
  test('shows every claim on a real API server', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN]);
    expect(stdout).toContain('Muster on Kubernetes v1.36');
    for (const claim of [
      'stored with the gate',
      'nothing was stored',
      'Muster was not even called for it',
      'applied twice, and the reference to leader-0 is still there',
      'refused, even for an administrator',
      'an ordinary Pod is created as ever',
      'deletion is never in the way',
    ]) {
      expect(stdout).toMatch(new RegExp(`✔ .*${claim}`));
    }
    expect(stdout).toMatch(/All of it was as claimed\.\n$/);
  }, 120_000);
});
