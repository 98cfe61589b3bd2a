import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { RELEASE } from './control-plane/releases.ts';
import { clusterSuite } from './control-plane/suite.ts';

const ROOT = join(import.meta.dirname, '../..');
const CLAIMS = [
  'the stock scheduler serves gangs by objects of its own; KAI is not installed here, and it says so',
  'it carries the gate',
  'it says what is missing, and no Pod starts',
  "the scheduler's own objects for the gang are there already",
  'complete: Initialized, gates off, all three bound by kube-scheduler',
  'Events tell the same',
  'and so do the metrics',
  'its replacement, too, and the references follow',
  'Muster was not even called for it',
  'applied twice, and the references are still there',
  'refused, even for an administrator',
  'Muster has made the PodGang, and the three Pods start together',
  'the gang goes with its Job',
  'a run has its gang, too',
  'prepared for KAI, and gated',
  'nothing was stored',
  'a new Pod of the running gang goes where its gang is',
  'an ordinary Pod is created as ever',
  'a gate stays on: the API server keeps it by itself',
  'and deletion is never in the way',
];
const FLEET_CLAIMS = [
  'registered: as interpreter of gangs, as webhook for bindings, as their scheduler',
  '17 GPUs are nowhere but in m2: all five Pods are sent there',
  'as it was sent',
  '10 of 12 are sent, to three clusters',
  'what cannot have its least waits whole, and nothing of it is sent',
  'urgent goes first, the others wait, and it says why',
  'when urgent has come to its end, the next one',
  'then the last',
];
/** Ages differ from run to run. */
const steady = (line: string): string => line.trim().replace(/\b\d+m?s\b/g, '5s');

/** `.ci/run` runs the same with the built program. */
clusterSuite('the demo', () => {
  test('shows every claim on a real API server, and README shows what it prints', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      join(ROOT, 'demo', 'main.ts'),
      '--source',
    ]);
    expect(stdout).toContain(`Muster on Kubernetes ${RELEASE.version}`);
    for (const claim of CLAIMS) expect(stdout).toContain(`✔ ${claim}`);
    expect(stdout).not.toContain('✘');
    expect(stdout).toMatch(/All of it was as claimed\.\nnpm run demo -- --dashboard shows .*\n$/);

    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const shown = /npm run demo\n```[^]*?```console\n([^]*?)```/.exec(readme)?.[1] ?? '';
    const printed = stdout.split('\n').map(steady);
    const missing = shown.split('\n').filter((line) => !['', '…'].includes(line.trim()));
    expect(missing.length).toBeGreaterThan(10);
    let at = 0;
    for (const line of missing) {
      const found = printed.indexOf(steady(line), at);
      expect({ line, printed: found >= 0 }).toEqual({ line, printed: true });
      at = found + 1;
    }
  }, 300_000);

  test('shows a fleet on a real API server with Karmada’s definitions', async () => {
    const args = [join(ROOT, 'demo', 'main.ts'), '--fleet', '--source'];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    for (const claim of FLEET_CLAIMS) expect(stdout).toContain(`✔ ${claim}`);
    expect(stdout).toMatch(/train +false +m2 +0 +{"m2":{"master":1,"worker":4}} +Success/);
    expect(stdout).toMatch(/sweep +false +m1,m2,m3 +4,5,1 /);
    expect(stdout).not.toContain('✘');
    expect(stdout).toMatch(/All of it was as claimed\.\n$/);
  }, 180_000);
});
