import type { Diagnosis } from '../../../../src/cli/doctor/diagnosis.ts';

/** Findings as a person reads them: `problem group/check: found → fix`. */
export const told = (findings: readonly Diagnosis[]): string[] =>
  findings.map(
    ({ severity, group, check, found, fix }) =>
      `${severity} ${group}/${check}: ${found}${fix === undefined ? '' : ` → ${fix}`}`,
  );

/** Without what is fine. */
export const wrong = (findings: readonly Diagnosis[]): string[] =>
  told(findings.filter(({ severity }) => severity !== 'ok'));
