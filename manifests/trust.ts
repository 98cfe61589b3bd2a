/**
 * Writes `trustedAccounts` of base/config.yaml into the policies that name the same accounts, since a policy can read no
 * configuration. Run it after a change of that list: `node manifests/trust.ts`, or with the folder of other manifests.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2] ?? import.meta.dirname;
const LIST = /^trustedAccounts:\n((?: *- .*\n)+)/m;
const VARIABLE = /(- name: trusted\n +expression: >-\n)( +)\[[^\]]*\]/;

const configuration = readFileSync(join(folder, 'base/config.yaml'), 'utf8');
const accounts = LIST.exec(configuration)?.[1]?.match(/[^\s'"-][^\s'"]*/g) ?? [];
// They end up inside of quotes in an expression.
const odd = accounts.find((account) => !/^[\w.:@/-]+$/.test(account));
if (accounts.length === 0 || odd !== undefined) {
  throw new Error(
    odd === undefined
      ? 'base/config.yaml has no trustedAccounts, one account a line: the policies would let nobody take gates off'
      : `${JSON.stringify(odd)} in trustedAccounts of base/config.yaml is no name of an account`,
  );
}
for (const name of ['gang-pod-gate', 'podgang-initialized']) {
  const file = join(folder, 'policies', `${name}.yaml`);
  const policy = readFileSync(file, 'utf8');
  if (!VARIABLE.test(policy)) throw new Error(`${file} has no variable "trusted"`);
  const made = policy.replace(
    VARIABLE,
    (_all, head: string, indent: string) =>
      `${head}${indent}[${accounts.map((account) => `'${account}'`).join(`,\n${indent}`)}]`,
  );
  if (made !== policy) writeFileSync(file, made);
}
