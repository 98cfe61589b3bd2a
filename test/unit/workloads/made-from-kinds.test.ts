/** Rights and webhook rules for kinds of workloads are made from the registry. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { askedAbout } from '../../../src/cli/doctor/expected-webhooks.ts';
import { gangKinds, kinds } from '../../../src/workloads/kinds.ts';
import { withMade } from '../../support/made-documents.ts';
import { readersOf, workloadRulesOf } from '../../support/made-manifests.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Kubernetes' own, whose rights are in the base by themselves. */
const OF_BASE = new Set(['apps', 'batch']);
const asked = askedAbout(gangKinds).map(({ group, resource }) => `${group}/${resource}`);

test.each([
  readersOf(
    'manifests/components/workloads/rbac.yaml',
    gangKinds.filter(({ group }) => !OF_BASE.has(group)),
    ['list', 'watch'],
  ),
  readersOf(
    'manifests/karmada/queues/rbac.yaml',
    kinds.filter(({ fleet }) => fleet !== undefined),
    ['get'],
  ),
  workloadRulesOf(kinds.filter(({ group, plural }) => asked.includes(`${group}/${plural}`))),
])('$file', (made) => {
  const path = join(ROOT, made.file);
  const text = readFileSync(path, 'utf8');
  const wanted = withMade(text, made);
  if (process.env['UPDATE_DOCS'] === '1' && wanted !== text) writeFileSync(path, wanted);
  else expect(text).toBe(wanted);
});
