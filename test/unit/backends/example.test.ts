import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { line } from '../../../docs/examples/line-backend.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import { builtInBackends } from '../../../src/backends/registry.ts';
import { group, podGang } from '../../support/pod-gangs.ts';
import { gangPod, gates } from '../../support/pods.ts';
import { policy } from '../../support/policy.ts';
import { recordedSync } from '../../support/sync-context.ts';
import {
  mutatePod,
  operationsOf,
  rulesOf,
  textsOf,
  validatePod,
  validatePodGang,
} from '../../support/reviews.ts';
import { patched } from '../../support/rfc6902.ts';

const DOCS = join(import.meta.dirname, '../../../docs');
const factories = [...builtInBackends, line];

const started = (config: JsonObject) => policy({ factories, enabled: ['line-scheduler'], config });
const SETTINGS = { config: {}, topology: { enabled: false, keys: [] } };

const onLine = { labels: { 'grove.io/scheduler-name': 'line-scheduler' } };

describe('the example of docs/backends.md', () => {
  test('is printed there as it is, apart from what a package of its own would import', () => {
    const page = readFileSync(join(DOCS, 'backends.md'), 'utf8');
    const source = readFileSync(join(DOCS, 'examples/line-backend.ts'), 'utf8');
    const wanted = page.replace(
      /```ts\n[\s\S]*?```/,
      () => `\`\`\`ts\n${source.replace("'../../src/index.ts'", "'muster'")}\`\`\``,
    );
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(join(DOCS, 'backends.md'), wanted);
    else expect(page).toBe(wanted);
  });

  test('prepares a Pod once, and the prepared Pod is let in', () => {
    const under = started({ queues: ['day', 'night'] });
    const object = gangPod({ ...onLine, annotations: { keep: 'me' } });
    const stored = patched(object, operationsOf(mutatePod({ object }, under)));
    expect(stored).toMatchObject({
      metadata: {
        annotations: { keep: 'me', 'line.example.com/gang': 'ml/train', 'line.example.com/queue': 'day' },
      },
      spec: { schedulerName: 'line-scheduler', schedulingGates: gates('grove.io/podgang-pending-creation') },
    });
    expect(mutatePod({ object: stored }, under).changes).toEqual([]);
    expect(validatePod({ object: stored }, under).faults).toEqual([]);
  });

  test('refuses a Pod by its own reason', () => {
    const object = gangPod({ ...onLine, annotations: { 'line.example.com/queue': 'noon' } });
    expect(textsOf(mutatePod({ object }, started({})))).toEqual([
      'metadata.annotations[line.example.com/queue]: Invalid value: the backend could not prepare this Pod (line-scheduler: no queue "noon"); correct what it names, or tell whoever runs Muster [BackendFailed]',
    ]);
  });

  test('refuses and warns of what its scheduler cannot do', () => {
    const under = started({});
    expect(rulesOf(validatePodGang({ object: podGang(onLine) }, under))).toEqual(['BackendCannotExpress']);
    const spec = { topologyConstraint: { packConstraint: { required: 'a/b' } } };
    expect(
      validatePodGang({ object: podGang({ ...onLine, groups: [group('a')], spec }) }, under),
    ).toMatchObject({
      faults: [],
      warnings: [expect.any(String), 'line-scheduler ignores topology constraints'],
    });
  });

  test('does not start with a configuration that it cannot read', () => {
    expect(() => started({ queues: 'day' })).toThrow(
      'failed to initialize backend: line-scheduler: config.queues must be a list of names',
    );
  });

  test('syncs and cleans up without objects of its own', async () => {
    const made = line.create(SETTINGS);
    const { context, applied, removed } = recordedSync();
    await made.syncPodGang(context, {} as never);
    await made.onPodGangDelete(context, {} as never);
    expect([applied, removed]).toEqual([[], []]);
  });
});

test('docs/backends.md names every member of the contract', () => {
  const page = readFileSync(join(DOCS, 'backends.md'), 'utf8');
  const backend = line.create(SETTINGS);
  for (const member of Object.keys(backend)) expect(page).toContain(member);
  for (const call of [
    'setSchedulerName',
    'annotate',
    'label',
    'addGate',
    'setSchedulingGroup',
    'setWorkloadRef',
  ]) {
    expect(page).toContain(`\`${call}(`);
  }
});
