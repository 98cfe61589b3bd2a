import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
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
