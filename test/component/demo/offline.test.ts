import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const MAIN = join(import.meta.dirname, '../../../demo/main.ts');

test('the demo without a control plane shows prepared Pods and refusals, and all is as claimed', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, '--offline', '--source']);
  expect(stdout).toContain('+ spec.schedulerName: default-scheduler');
  expect(stdout).toContain('+ spec.schedulerName: kai-scheduler');
  expect(stdout).toContain('+ spec.schedulingGates[grove.io/podgang-pending-creation]');
  expect(stdout).toContain('[SchedulerNotEnabled]');
  expect(stdout).not.toContain('✘');
  expect(stdout).toMatch(/All of it was as claimed\.\n$/);
});

test('the demo of a gang under Flux shows its Pods and what they run with', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, '--hpc', '--source']);
  expect(stdout).toContain('+  annotations:  # by which it was prepared');
  expect(stdout).toContain('✔ two scripts, which bash can read, and the settings of the brokers');
  expect(stdout).not.toContain('✘');
  expect(stdout).toMatch(/All of it was as claimed\.\n$/);
});

test('where no control plane can be had it says why, and goes on without', async () => {
  // No Go on the PATH, no cache, no KUBEBUILDER_ASSETS.
  const empty = await mkdtemp(join(tmpdir(), 'muster-no-cache-'));
  const env = { PATH: '', HOME: empty, XDG_CACHE_HOME: empty };
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, '--source'], { env });
  await rm(empty, { recursive: true });
  expect(stdout).toMatch(/No control plane here: .*`go` is not on the PATH/s);
  expect(stdout).toContain('Going on without one, as with --offline.');
  expect(stdout).toMatch(/All of it was as claimed\.\n$/);
});

/** Compiles three packages for each program, and makes programs that end at once. */
const GO = `#!/bin/sh
case $1 in
  list) printf 'stale dependency: a\\nbuild ID mismatch\\nnot installed but available in build cache\\nnew\\n' ;;
  build) printf 'a\\nb\\nc\\n' >&2
    for last; do if [ "$before" = -o ]; then printf '#!/bin/sh\\nexit 7\\n' > "$last"; chmod 755 "$last"; fi; before=$last; done ;;
esac
`;

test('while its programs are built it shows what needs none, and they are built in the order of what needs them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'muster-first-demo-'));
  await writeFile(join(folder, 'go'), GO, { mode: 0o755 });
  const env = { PATH: `${folder}:/usr/bin:/bin`, HOME: folder, XDG_CACHE_HOME: folder };
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, '--source'], { env });
  await rm(folder, { recursive: true });
  const told = stdout.split('\n').map((line) => line.replace(/[\d.]+ s$/, '1 s'));
  const at = (line: string): number => {
    expect(told).toContain(line);
    return told.indexOf(line);
  };
  const programs = ['etcd', 'kube-apiserver', 'kubectl', 'kube-scheduler', 'kube-controller-manager'];
  const lines = [
    'They are built first, with Go, once. Meanwhile what there is to see without them:',
    '1. A PodGang, and Pods for two schedulers',
    'The build goes on:',
    '  fetched the Go modules in 1 s',
    ...programs.flatMap((program, index) => [
      `  building ${program} (${index + 1} of 5), 3 packages to compile ...`,
      `  built ${program} in 1 s`,
    ]),
    'All there is to see without one is above.',
    'All of it was as claimed.',
  ].map(at);
  expect(lines).toEqual(lines.toSorted((a, b) => a - b));
  expect(stdout).toMatch(/No control plane here: etcd ended \(exit code 7\)/);
}, 60_000);
