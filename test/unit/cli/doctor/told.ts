import type { Finding } from '../../../../src/cli/doctor/finding.ts';

/** Findings as a person reads them: `problem group/check: found → fix`. */
export const told = (findings: readonly Finding[]): string[] =>
  findings.map(
    ({ severity, group, check, found, fix }) =>
      `${severity} ${group}/${check}: ${found}${fix === undefined ? '' : ` → ${fix}`}`,
  );

/** Without what is fine. */
export const wrong = (findings: readonly Finding[]): string[] =>
  told(findings.filter(({ severity }) => severity !== 'ok'));
