import { describe, expect, test } from '@jest/globals';
import { preparationRules } from '../../../../src/conformance/preparations.ts';
import type { CheckReport } from '../../../../src/cli/conformance/trial.ts';
import { conformanceRules, strategyRuleTexts } from '../../../../src/conformance/conformance.ts';
import { muster } from '../fake-io.ts';

/** Under a configuration in which KAI is given no queue. */
const WITHOUT_QUEUE = ['--name', 'kai-scheduler', '--config', 'docs/examples/config.yaml'];

describe('muster conformance', () => {
  test('says a line for every rule, and how many hold', async () => {
    const { code, out, err } = await muster(['conformance', '--name', 'volcano']);
    expect([code, err]).toEqual([0, '']);
    expect(out.match(/^✓ /gm)).toHaveLength(conformanceRules.length);
    expect(out).toContain(
      '✓ sync-works: syncPodGang() makes the objects of a gang that the backend takes, and ends (it keeps PodGroup train)\n',
    );
    expect(out).toMatch(new RegExp(`\n\nvolcano: ${conformanceRules.length} passed, 0 failed, 0 skipped\n$`));
  });

  test('says which rule is broken and how, and what nothing can be said about', async () => {
    const { code, out } = await muster(['conformance', ...WITHOUT_QUEUE]);
    expect(code).toBe(1);
    expect(out).toMatch(
      /^✗ takes-a-gang: it refuses a gang of one group \(metadata\.labels\[kai\.scheduler\/queue\].*give --config.*\n {4}the rule: there is a gang that the backend takes$/m,
    );
    expect(out).toMatch(/^- sync-works: says nothing while takes-a-gang is broken$/m);
  });

  test('as JSON', async () => {
    const { code, out } = await muster(['conformance', ...WITHOUT_QUEUE, '-o', 'json']);
    expect(code).toBe(1);
    const report = JSON.parse(out) as { checks: CheckReport[] };
    expect(report).toMatchObject({ backend: 'kai-scheduler', failed: 1 });
    expect(report.checks.map(({ name, rule }) => ({ name, rule }))).toEqual(conformanceRules);
    expect(report.checks.find(({ state }) => state === 'failed')).toMatchObject({ name: 'takes-a-gang' });
  });

  test.each([[['--config', 'docs/examples/kai-queue.yaml']], [[]]])(
    'takes settings from the profile, else from the folder of the backend: %j',
    async (args) => {
      expect(await muster(['conformance', '--name', 'kai-scheduler', ...args])).toMatchObject({ code: 0 });
    },
  );

  test.each([
    [['--module', './docs/examples/cheapest-strategies.ts']],
    [['--name', 'prices', '--config', 'docs/examples/strategies.yaml']],
    [['--module', './docs/examples/cheapest-strategies.ts', '--config', 'docs/examples/strategies.yaml']],
  ])('strategies of a fleet: %j', async (args) => {
    const { code, out } = await muster(['conformance', ...args, '-o', 'json']);
    const report = JSON.parse(out) as { checks: CheckReport[] };
    expect(report).toMatchObject({
      plugin: 'prices',
      passed: strategyRuleTexts.length,
      failed: 0,
      skipped: 0,
    });
    expect(report.checks.map(({ name, rule }) => ({ name, rule }))).toEqual(strategyRuleTexts);
    expect(code).toBe(0);
  });

  test.each([
    [['--module', './docs/examples/hostfile-preparation.ts']],
    [['--name', 'hostfile', '--config', 'docs/examples/preparations.yaml']],
  ])('a preparation: %j', async (args) => {
    const { code, out } = await muster(['conformance', ...args, '-o', 'json']);
    const report = JSON.parse(out) as { checks: CheckReport[] };
    expect(report).toMatchObject({
      preparation: 'hostfile',
      passed: preparationRules.length,
      failed: 0,
      skipped: 0,
    });
    expect(report.checks.map(({ name, rule }) => ({ name, rule }))).toEqual(preparationRules);
    expect(code).toBe(0);
  });

  test.each([
    [[], 'error[USAGE]: what is to be tried out?\nfix: give --module with a file or package, or --name\n'],
    [
      ['--name', 'slurm'],
      'error[USAGE]: there is no backend "slurm" (there are: default-scheduler, kai-scheduler, volcano, coscheduling)\nfix: name one of these, or give the file of yours with --module\n',
    ],
    [
      ['--module', 'no-such-backend'],
      `error[BACKEND_MODULE_MISSING]: --module: there is no package "no-such-backend" in a node_modules above ${process.cwd()} or Muster itself\nfix: install it there, or write ./no-such-backend if it is a file beside the configuration\n`,
    ],
  ])('wrong usage: %j', async (args, says) => {
    expect(await muster(['conformance', ...args])).toEqual({ code: 2, out: '', err: says });
  });
});
