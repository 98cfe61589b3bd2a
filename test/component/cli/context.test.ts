/** `--context` chooses among the contexts of a kubeconfig, for every verb that reads a cluster. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { muster } from '../../unit/cli/fake-io.ts';

let folder: string;
let kubeconfig: string;

// Nobody listens on these ports: which of them is tried shows which context was taken.
const document = `apiVersion: v1
kind: Config
current-context: one
contexts:
  - { name: one, context: { cluster: one, user: me } }
  - { name: two, context: { cluster: two, user: me } }
clusters:
  - { name: one, cluster: { server: 'https://127.0.0.1:1' } }
  - { name: two, cluster: { server: 'https://127.0.0.1:2' } }
users:
  - { name: me, user: { token: t } }
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-context-'));
  kubeconfig = join(folder, 'config');
  await writeFile(kubeconfig, document);
});
afterAll(() => rm(folder, { recursive: true }));

const told = async (...args: readonly string[]): Promise<{ code: number; text: string }> => {
  const { code, out, err } = await muster([...args, '--kubeconfig', kubeconfig]);
  return { code, text: out + err };
};

test.each(['status', 'doctor'])('%s goes to the cluster of the context', async (verb) => {
  const current = await told(verb);
  expect(current.text).toContain('127.0.0.1:1');
  expect(current.text).not.toContain('127.0.0.1:2');
  const other = await told(verb, '--context', 'two');
  expect(other.text).toContain('127.0.0.1:2');
  expect(other.text).not.toContain('127.0.0.1:1');
  expect(other.code).toBe(current.code);
});

test.each(['status', 'doctor'])('%s says which context is not there', async (verb) => {
  const { code, text } = await told(verb, '--context', 'three');
  expect(code).toBe(3);
  expect(text).toContain('error[CLUSTER_UNREACHABLE]');
  expect(text).toContain('"three"');
});
