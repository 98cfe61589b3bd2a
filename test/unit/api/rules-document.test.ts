import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { format, resolveConfig } from 'prettier';
import { parseAllDocuments } from 'yaml';
import { rules } from '../../../src/api/rules.ts';

const FILE = join(import.meta.dirname, '../../../docs/reference/rules.md');

const POLICIES = join(import.meta.dirname, '../../../manifests/policies');

const INTRODUCTION = `# Rules

Every rule by which Muster refuses an object. The name stands in brackets at the end of each message. Code 422
means that the object is wrong, 403 that this account, or anybody at this moment, may not do it. Where an answer
names several faults its code is 422 as soon as one of them has it.

This page is written from \`src/api/rules.ts\` and \`manifests/policies\`. After a change of the rules:
\`UPDATE_DOCS=1 npm run test:unit\`
`;

const OF_POLICIES = `## Of the policies

These the API server keeps by itself, whether Muster runs or not; a rule of the same name above is asked by Muster as
well. \`kubectl\` names the policy in front of the message. [manifests.md](../manifests.md#policies) says on what each is asked.
`;

interface Policy {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly validations?: readonly { readonly message: string }[] };
}

/** `field: Kind: what it says; the way out [Rule]`, of every validation. */
const MESSAGE = /^([^:]+): ([^:]+): (.*?); (.*) \[(\w+)\]$/;

function policyRows(): string[][] {
  const policies = readdirSync(POLICIES)
    .filter((file) => file !== 'kustomization.yaml')
    .sort()
    .flatMap((file) => parseAllDocuments(readFileSync(join(POLICIES, file), 'utf8')))
    .map((document) => document.toJS() as Policy);
  return policies.flatMap(({ metadata, spec }) =>
    (spec.validations ?? []).map(({ message }) => {
      const [, field = '', kind = '', says = '', fix = '', rule = ''] = MESSAGE.exec(message) ?? [];
      expect({ policy: metadata.name, message, rule }).not.toMatchObject({ rule: '' });
      return [`\`${rule}\``, `\`${metadata.name}\``, `${field}: ${kind}`, says, fix];
    }),
  );
}

async function page(): Promise<string> {
  const cell = (text: string): string =>
    text.replaceAll('|', '\\|').replaceAll('_', '\\_').replaceAll('*', '\\*');
  const rows = Object.entries(rules).map(
    ([name, { code, kind, says, fix }]) =>
      `| \`${name}\` | ${code} | ${kind} | ${cell(says)} | ${cell(fix)} |`,
  );
  const table = ['| Rule | Code | Kind | What it says | The way out |', '| - | - | - | - | - |', ...rows];
  const kept = [
    '| Rule | Policy | Field | What it says | The way out |',
    '| - | - | - | - | - |',
    ...policyRows().map((cells) => `| ${cells.map(cell).join(' | ')} |`),
  ];
  const options = (await resolveConfig(FILE)) ?? {};
  return format(`${INTRODUCTION}\n${table.join('\n')}\n\n${OF_POLICIES}\n${kept.join('\n')}\n`, {
    ...options,
    parser: 'markdown',
  });
}

test('docs/reference/rules.md is what the source says', async () => {
  const wanted = await page();
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, wanted);
  expect(readFileSync(FILE, 'utf8')).toBe(wanted);
});
