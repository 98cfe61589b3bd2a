import { expect } from '@jest/globals';
import type { Diagnosis } from '../../../src/cli/doctor/diagnosis.ts';
import { until } from '../control-plane/until.ts';
import type { Broken } from './broken-installations.ts';
import type { WholeInstallation } from './whole-installation.ts';

export const isWrong = ({ severity }: Diagnosis): boolean => severity === 'problem' || severity === 'warning';

export const told = (findings: readonly Diagnosis[]): string[] =>
  findings.map(({ group, check, severity, found }) => `${severity} ${group}/${check}: ${found}`);

export const findingsOf = async (whole: WholeInstallation): Promise<readonly Diagnosis[]> => {
  const report = await whole.doctor();
  expect(report.code).toBe(report.problems > 0 ? 1 : 0);
  return report.findings;
};

export const wrongOf = async (whole: WholeInstallation): Promise<readonly Diagnosis[]> =>
  (await findingsOf(whole)).filter(isWrong);

/** Webhooks, policies and rights take effect some moments after they are stored. */
export const untilWhole = (whole: WholeInstallation): Promise<readonly Diagnosis[]> =>
  until('nothing is wrong', async () => {
    const all = await findingsOf(whole);
    const left = told(all.filter(isWrong));
    if (left.length > 0) throw new Error(left.join('\n'));
    return all;
  });

/** Breaks an installation in these ways at once, and expects each to be found, and mended by what the doctor prints. */
export async function breakAndMend(whole: WholeInstallation, rows: readonly Broken[]): Promise<void> {
  const { client } = whole.on.plane;
  for (const { harm } of rows) await harm(client, whole);
  const { found, commands } = await until('all of it is found', async () => {
    const all = await wrongOf(whole);
    const found = rows.map((row) => all.find((one) => tells(one, row)));
    const missed = rows.filter((_, index) => found[index] === undefined).map(({ what }) => what);
    if (missed.length > 0) throw new Error([`not found: ${missed.join('; ')}`, ...told(all)].join('\n'));
    return { found, commands: all.flatMap((one) => one.commands ?? []) };
  });
  expect(new Set(found).size).toBe(rows.length);
  expect(found.map((one) => one?.fix)).toEqual(rows.map(({ fix }) => expect.stringContaining(fix)));
  for (const heal of new Set(rows.map((row) => row.heal))) await heal?.(client, whole);
  if (rows.some(({ heal }) => heal === undefined)) await whole.shell(commands.join('\n'));
  if (rows.some(({ rule }) => /^(program|certificate)/.test(rule))) await whole.rolledOut();
  await untilWhole(whole);
}

const tells = (one: Diagnosis, { rule, severity, found }: Broken): boolean =>
  `${one.group}/${one.check}` === rule &&
  one.severity === (severity ?? 'problem') &&
  one.found.includes(found);
