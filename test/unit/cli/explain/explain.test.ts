import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { keys } from '../../../../src/api/keys.ts';
import { rules } from '../../../../src/api/rules.ts';
import { explainable } from '../../../../src/cli/explain/explain.ts';
import { topics } from '../../../../src/cli/explain/topics.ts';
import { notices } from '../../../../src/cli/gangs/notices.ts';
import { settings } from '../../../../src/config/settings.ts';
import { muster } from '../fake-io.ts';

const explained = async (...args: string[]): Promise<string> => {
  const { code, out, err } = await muster(['explain', ...args]);
  expect([code, err]).toEqual([0, '']);
  return out;
};

/** What a message in brackets is called, in any manifest: what the API server tells by itself. */
const inManifests = globSync('manifests/**/*.yaml').flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/\[([A-Z][a-z]+[A-Z]\w+)\](?:$|["'])/gm)].map(
    ([, name = '']) => name,
  ),
);

describe('muster explain', () => {
  test('a rule, by the name in brackets of its message', async () => {
    expect(await explained('HpcPolicyMissing')).toBe(`HpcPolicyMissing: rule of admission
  Code          422
  Kind          Invalid
  What it says  the namespace of the gang does not have this HPCPolicy
  The way out   create the HPCPolicy there, or correct the annotation muster.dev/hpc-policy
  see docs/reference/rules.md
`);
  });

  test('of a rule that the API server keeps as well both are told', async () => {
    const text = await explained('GangNotNamed');
    expect(text).toContain('GangNotNamed: rule of admission\n');
    expect(text).toContain('GangNotNamed: rule of the API server\n');
    expect(text).toContain('  Policy or definition  muster-gang-pod-named\n');
  });

  test.each([
    ['muster.dev/expected-pods', 'muster.dev/expected-pods: key\n  What        annotation\n'],
    ['expected-pods', 'muster.dev/expected-pods: key\n'],
    ['EXPECTED-PODS', 'muster.dev/expected-pods: key\n'],
    ['podgang.spec.podgroups.minReplicas', '  Default  required\n'],
    ['podgang.spec.podgroups[].minReplicas', 'podgang.spec.podgroups.minReplicas: field\n'],
    ['pg.spec.priorityClassName', 'podgang.spec.priorityClassName: field\n'],
    ['hpcpolicy.spec.torch.procPerNode', '  Type     integer or string, from 1 to 1024\n'],
    ['hpcpolicy.spec.hpc.settings.tasks-per-node', '  Default  1\n'],
    ['server.webhooks.port', '  Default               9443\n'],
    ['MUSTER_SERVER_WEBHOOKS_PORT', 'server.webhooks.port: setting\n'],
    ['scheduler.profiles.name', 'scheduler.profiles[].name: setting\n'],
    ['GroupTooSmall', '  Severity      warning\n'],
    ['FleetQueueWeight', '  Policy or definition  fleetqueues.muster.dev\n'],
    ['muster_loop_leading', 'muster_loop_leading: metric\n'],
    ['CONFIG_INVALID', '  Exit code  1\n'],
  ])('%s', async (name, says) => expect(await explained(name)).toContain(says));

  test('a kind or a section of settings lists what is in it', async () => {
    expect(await explained('server.webhooks.limits')).toMatch(
      /^NAME +MEANING\nserver\.webhooks\.limits\.maxBodyBytes +Largest review in bytes/,
    );
    const gang = await explained('podgang');
    expect(gang).toMatch(/^podgang\n {4}PodGang is a set of groups/);
    expect(gang).toContain('\npodgang.status.lastReady\n');
    expect(gang).not.toContain('grove.io/podgang\n');
  });

  test('alone it lists the topics, and of each its names', async () => {
    const contents = await explained();
    for (const { name, entries } of topics()) {
      expect(contents).toMatch(new RegExp(`^${name} +${entries.length} `, 'm'));
      const names = await explained(name);
      for (const entry of entries) expect(names).toContain(entry.name);
    }
  });

  test('-o json', async () => {
    expect(JSON.parse(await explained('logLevel', '-o', 'json'))).toEqual([
      {
        topic: 'settings',
        name: 'logLevel',
        type: '`debug` or `info` or `warn` or `error`',
        default: 'info',
        environment: 'MUSTER_LOG_LEVEL',
        meaning: 'Least severe level that is logged.',
        page: 'docs/reference/configuration.md',
      },
    ]);
    const contents = JSON.parse(await explained('-o', 'json')) as { topic: string; names: string[] }[];
    expect(contents.map(({ topic }) => topic)).toEqual(topics().map(({ name }) => name));
    expect(contents[0]?.names).toEqual(Object.keys(rules));
  });

  test.each([
    ['GangNotNamd', ' (did you mean "GangNotNamed"?)'],
    ['muster.dev/expectedpods', ' (did you mean "muster.dev/expected-pods"?)'],
    ['podgang.spec.podgroup.minReplicas', ' (did you mean "podgang.spec.podgroups.minReplicas"?)'],
    ['minReplicas', ' (did you mean "podgang.spec.podgroups.minReplicas"?)'],
    ['server.webhook.port', ' (did you mean "server.webhooks.port"?)'],
    ['nothing of the kind', ''],
  ])('what nobody knows is wrong usage, and the nearest is named: %s', async (name, meant) => {
    expect(await muster(['explain', name])).toEqual({
      code: 2,
      out: '',
      err: `error[USAGE]: nothing is called "${name}"${meant}\nfix: see "muster explain" for what there is to explain\n`,
    });
  });
});

test('whatever a message is called can be explained, and every key and setting', () => {
  const names = [
    ...Object.keys(rules),
    ...Object.keys(notices),
    ...inManifests,
    ...keys.map(({ key }) => key),
    ...settings.map(({ path }) => path),
  ];
  expect(inManifests.length).toBeGreaterThan(40);
  const known = new Set(topics().flatMap(({ entries }) => entries.map(({ name }) => name)));
  expect([...new Set(names)].filter((name) => !known.has(name))).toEqual([]);
});

test('without the manifests all else is explained', () => {
  const empty = topics('/nowhere').flatMap(({ name, entries }) => (entries.length === 0 ? [name] : []));
  expect(empty).toEqual(['policies', 'fields']);
});

test('a shell gets each name once, as a word', () => {
  const words = explainable();
  expect(new Set(words).size).toBe(words.length);
  expect(words.filter((word) => /[^\w./-]/.test(word))).toEqual([]);
  expect(words).toEqual(expect.arrayContaining(['rules', 'GangNotNamed', 'scheduler.profiles.name']));
});
