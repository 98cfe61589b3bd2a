import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { line } from '../../../docs/examples/line-backend.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { POD_FIELDS } from '../../../src/preparers/preparer.ts';
import { builtInBackends } from '../../../src/backends/registry.ts';
import { group, podGang } from '../../support/pod-gangs.ts';
import { gangPod, gates } from '../../support/pods.ts';
import { policy } from '../../support/policy.ts';
import { clusterWith, gangOf, initContext, made } from '../../support/made-backend.ts';
import { lineDefinition } from '../../support/line-definition.ts';
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

const onLine = { labels: { 'grove.io/scheduler-name': 'line-scheduler' } };

describe('the example of docs/backends.md', () => {
  test('is printed there as it is, apart from what a package of its own would import', () => {
    const page = readFileSync(join(DOCS, 'backends.md'), 'utf8');
    const source = readFileSync(join(DOCS, 'examples/line-backend.ts'), 'utf8');
    const wanted = page.replace(
      /```ts\nimport \{\n {2}BACKEND_CONTRACT[\s\S]*?```/,
      () => `\`\`\`ts\n${source.replace("'../../src/index.ts'", "'@muster-dev/muster'")}\`\`\``,
    );
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(join(DOCS, 'backends.md'), wanted);
    else expect(page).toBe(wanted);
  });

  test('prepares a Pod once, and the prepared Pod is let in', () => {
    const under = started({});
    const object = gangPod({ ...onLine, annotations: { keep: 'me' } });
    const stored = patched(object, operationsOf(mutatePod({ object }, under)));
    expect(stored).toMatchObject({
      metadata: { annotations: { keep: 'me', 'line.example.com/line': 'train' } },
      spec: { schedulerName: 'line-scheduler', schedulingGates: gates('grove.io/podgang-pending-creation') },
    });
    expect(mutatePod({ object: stored }, under).changes).toEqual([]);
    expect(validatePod({ object: stored }, under).faults).toEqual([]);
  });

  test('refuses a Pod by its own reason', () => {
    const object = gangPod({ ...onLine, annotations: { 'line.example.com/line': 'other' } });
    expect(textsOf(mutatePod({ object }, started({})))).toEqual([
      'metadata.annotations[line.example.com/line]: Invalid value: this Pod could not be prepared (line-scheduler: stands in the line "other" already); correct what it names, or tell whoever runs Muster [BackendFailed]',
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

  test.each<[JsonObject, string]>([
    [{ queue: 5 }, 'config.queue: must be a string, not 5'],
    [{ queue: '' }, 'config.queue: must not be empty, not ""'],
    [{ queu: 'x' }, 'config.queu: unknown key (did you mean "queue"?); keys: queue'],
  ])('does not start with %j', (config, says) => {
    expect(() => started(config)).toThrow(`failed to initialize backend: line-scheduler: ${says}`);
  });

  test('is ready where the cluster has Lines, and says what is missing', async () => {
    const backend = made(line);
    await expect(backend.init(initContext(clusterWith()))).rejects.toThrow(
      'the cluster has no lines.line.example.com in version v1: install the scheduler "line"',
    );
    expect(await backend.init(initContext(clusterWith(lineDefinition)))).toEqual({
      version: 'line.example.com/v1',
    });
    expect((await backend.init(initContext())).notices).toEqual([
      'whether the cluster has Lines was not looked at',
    ]);
  });

  test('keeps a Line with the minimum and the queue', async () => {
    const { context, applied } = recordedSync();
    const groups = [group('worker', { minReplicas: 3 })];
    await made(line, { queue: 'day' }).syncPodGang(context, gangOf({ groups }));
    const annotations = { 'line.example.com/queue': 'night' };
    await made(line).syncPodGang(context, gangOf({ groups, annotations }));
    expect(applied.map(({ name, spec }) => [name, spec])).toEqual([
      ['train', { minimum: 3, queue: 'day' }],
      ['train', { minimum: 3, queue: 'night' }],
    ]);
  });

  test('passes on what its scheduler says', () => {
    const backend = made(line);
    expect(backend.explain?.([{}, { status: { message: 'no room\nat all' } }])).toBe('no room at all');
    expect(backend.explain?.([{ status: {} }])).toBeUndefined();
  });
});

test('docs/backends.md names every member of the contract', () => {
  const page = readFileSync(join(DOCS, 'backends.md'), 'utf8');
  const backend = made(line);
  for (const member of Object.keys(backend)) expect(page).toContain(member);
  const contract = readFileSync('src/backends/backend.ts', 'utf8');
  const [, declared = ''] = /^export interface Backend \{\n([\s\S]*?)^\}/m.exec(contract) ?? [];
  const members = [...declared.matchAll(/^ {2}(?:readonly )?(\w+)\??(\(?)/gm)];
  expect(members.length).toBeGreaterThan(15);
  for (const [, member = '', call = ''] of members) expect(page).toContain(`\`${member}${call}`);
  for (const field of Object.keys(POD_FIELDS)) expect(page).toContain(`\`${field}\``);
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
