/**
 * Writes `trustedAccounts` of base/config.yaml into the policies that name the same accounts, since a policy can read no
 * configuration; and, with the accounts of components/grove-operator/accounts.txt, into that component, which puts the
 * longer list into both. Run it after a change of either: `node manifests/trust.ts`, or with the folder of other manifests.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2] ?? import.meta.dirname;
const LIST = /^trustedAccounts:\n((?: *- .*\n)+)/m;
/** The first variable of a policy, where the component finds it. */
const VARIABLE = /(\n {2}variables:\n(?: +#.*\n)*)( +- name: trusted\n +expression: >-\n)( +)\[[^\]]*\]/;
const NAME = /^ {2}name: (\S+)$/m;
const COMPONENT = 'components/grove-operator';

const checked = (accounts: readonly string[], where: string): readonly string[] => {
  // They end up inside of quotes in an expression.
  const odd = accounts.find((account) => !/^[\w.:@/-]+$/.test(account));
  if (odd !== undefined) throw new Error(`${JSON.stringify(odd)} in ${where} is no name of an account`);
  return accounts;
};
const listed = (accounts: readonly string[], indent: string): string =>
  `[${accounts.map((account) => `'${account}'`).join(`,\n${indent}`)}]`;
const write = (file: string, text: string): void => {
  if (readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
};

const configuration = readFileSync(join(folder, 'base/config.yaml'), 'utf8');
const trusted = checked(
  LIST.exec(configuration)?.[1]?.match(/[^\s'"-][^\s'"]*/g) ?? [],
  'trustedAccounts of base/config.yaml',
);
if (trusted.length === 0) {
  throw new Error(
    'base/config.yaml has no trustedAccounts, one account a line: the policies would let nobody take gates off',
  );
}
const besides = readFileSync(join(folder, COMPONENT, 'accounts.txt'), 'utf8').split('\n').filter(Boolean);
const withGrove = [...new Set([...trusted, ...checked(besides, `${COMPONENT}/accounts.txt`)])];

const named: string[] = [];
for (const name of readdirSync(join(folder, 'policies')).sort()) {
  const file = join(folder, 'policies', name);
  const policy = readFileSync(file, 'utf8');
  if (!policy.includes('- name: trusted\n')) continue;
  if (!VARIABLE.test(policy)) throw new Error(`the first variable of ${file} is not "trusted"`);
  named.push(NAME.exec(policy)?.[1] ?? '');
  write(
    file,
    policy.replace(
      VARIABLE,
      (_all, before: string, head: string, indent: string) =>
        `${before}${head}${indent}${listed(trusted, indent)}`,
    ),
  );
}

const indent = ' '.repeat(10);
write(
  join(folder, COMPONENT, 'kustomization.yaml'),
  `# Trusts the Grove operator as well: the accounts of accounts.txt, and those of base/config.yaml. Its namespace has to
# exist before this is applied: whoever could make it could be the operator.
# Made by manifests/trust.ts.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
  - target:
      kind: Deployment
      name: muster
    patch: |-
      - op: add
        path: /spec/template/spec/containers/0/env/-
        value:
          name: MUSTER_TRUSTED_ACCOUNTS
          value: ${withGrove.join(',')}
  - target:
      kind: ValidatingAdmissionPolicy
      name: ${named.join('|')}
    patch: |-
      - op: test
        path: /spec/variables/0/name
        value: trusted
      - op: replace
        path: /spec/variables/0/expression
        value: >-
${indent}${listed(withGrove, indent)}
`,
);
