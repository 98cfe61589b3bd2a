/** How each scheduler counts, as docs/loop.md has it, is what its backend does. */
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { Backend } from '../../../src/backends/backend.ts';
import { coscheduling } from '../../../src/backends/coscheduling/backend.ts';
import { kai } from '../../../src/backends/kai/backend.ts';
import { GANG_APIS } from '../../../src/backends/native/gang-api.ts';
import { volcano } from '../../../src/backends/volcano/backend.ts';
import { json } from '../../support/pods.ts';
import { gangOf, made } from '../../support/made-backend.ts';
import { group } from '../../support/pod-gangs.ts';
import { recordedSync } from '../../support/sync-context.ts';
import { kubeOn, serving } from './native/served.ts';

const page = readFileSync(new URL('../../../docs/loop.md', import.meta.url), 'utf8');
const rows = page
  .slice(page.indexOf('| Scheduler | Counts by |'))
  .split('\n\n', 1)[0]!
  .split('\n')
  .slice(2)
  .map((row) => row.split('|').map((cell) => cell.trim()));

const RUNS = { name: 'worker-0', group: 'worker', gates: [], nodeName: 'node-1' };

/** What becomes of the object that is counted by, where Pods run and the minimum changes. */
async function changed(backend: Backend, kind: string): Promise<string> {
  const first = recordedSync();
  await backend.syncPodGang(first.context, gangOf());
  const owned = (plural: string) =>
    first.applied
      .filter(({ resource }) => resource.plural === plural)
      .map(({ name, spec }) => json({ metadata: { name }, spec, status: {} }));
  const link = kind === 'Workload' ? 'train/gang' : 'train';
  const second = recordedSync({ owned, pods: [{ ...RUNS, nativeGang: link }] });
  await backend.syncPodGang(second.context, gangOf({ groups: [group('worker', { minReplicas: 5 })] }));
  const touched = second.applied.some(({ resource }) => resource.kind === kind);
  if (second.removed.length > 0) return 'replaced';
  return touched ? 'patched' : first.applied.length === 0 ? '' : 'stays';
}

const RELEASES: Record<string, string> = { v1beta1: '1.37', v1alpha2: '1.36', v1alpha1: '1.35' };
const native = await Promise.all(
  GANG_APIS.filter(({ version }) => RELEASES[version] !== undefined).map(
    async ({ version, podGroups }) =>
      [
        `\`default-scheduler\`, native gangs of ${RELEASES[version] ?? ''}`,
        await kubeOn(serving(version)),
        podGroups === undefined ? 'Workload' : 'PodGroup',
      ] as const,
  ),
);
const SCHEDULERS: readonly (readonly [string, Backend, string])[] = [
  ...native,
  ['`default-scheduler`, native gangs off', await kubeOn({}), 'PodGroup'],
  ['`kai-scheduler`', made(kai, { queue: 'default-queue' }), 'PodGroup'],
  ['`volcano`', made(volcano), 'PodGroup'],
  ['`coscheduling`', made(coscheduling), 'PodGroup'],
];

test('every scheduler has a row', () => {
  expect(rows.map(([, name]) => name)).toEqual(SCHEDULERS.map(([name]) => name));
});

test.each(SCHEDULERS)('%s', async (name, backend, kind) => {
  const [, , , when = '', ending] = rows.find(([, first]) => first === name) ?? [];
  expect(ending).toBe(backend.countsEnding?.(gangOf()) === true ? 'yes' : 'no');
  const what = await changed(backend, kind);
  expect(what === '' ? when : when.includes(what)).toBe(what === '' ? '' : true);
});
