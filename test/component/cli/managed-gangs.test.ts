/** Gangs under a manager that a module of the configuration brings, as people look at them without a cluster. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cli as muster } from '../../cluster/support/muster-cli.ts';

let folder: string;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'muster-managed-'))));
afterAll(() => rm(folder, { recursive: true }));

const EXAMPLE = 'docs/managers/gang.yaml';
const BY = ['--config', 'docs/examples/preparations.yaml'];
const changed = (from: string, to: string): string => readFileSync(EXAMPLE, 'utf8').replace(from, to);

test('muster review shows the Pod as the module prepares it, with the reason of each change', async () => {
  const { code, out } = await muster(['review', ...BY, '-f', EXAMPLE]);
  expect(code).toBe(0);
  expect(out).toContain('volumes:  # the list of all Pods\n');
  expect(out).toContain('mountPath: /etc/mpi\n');
  expect(out).toMatch(/\+ +muster\.dev\/prepared: mpi@[0-9a-f]{8}/);
});

test('muster hpc render prints what the module makes', async () => {
  const { code, out } = await muster(['hpc', 'render', ...BY, '-f', EXAMPLE]);
  expect(code).toBe(0);
  expect(out).toContain('worker-0.train slots=4\n    worker-1.train slots=4\n');
  expect(out).toContain('kind: Service\n');
});

test.each([
  [
    'a setting that the module refuses',
    changed('slots:', 'slot:'),
    'spec.hpc.settings[slot]: Invalid value: "4"',
  ],
  ['a setting that is no text', changed("'4'", '4'), 'spec.hpc.settings[slots]'],
  ['a slip in the manager', changed('manager: hostfile', 'manager: hostfle'), 'did you mean "hostfile"?'],
])('muster validate tells of %s once, and where', async (_what, text, why) => {
  const file = join(folder, 'gang.yaml');
  await writeFile(file, text);
  const { code, out } = await muster(['validate', ...BY, '-f', file]);
  expect(code).toBe(1);
  expect(out.split(why)).toHaveLength(2);
  expect(out).toMatch(/gang\.yaml:\d+:\d+: error: /);
});

test('without the configuration nobody knows the manager', async () => {
  const { code, out } = await muster(['validate', '-f', EXAMPLE]);
  expect(code).toBe(1);
  expect(out).toContain(
    '(known: flux); correct it, leave it out for flux, or name its module in hpc.preparations',
  );
});
