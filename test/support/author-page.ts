import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { ConformanceCheck } from '../../src/conformance/conformance.ts';
import { messageOf } from '../../src/errors.ts';

const DOCS = join(import.meta.dirname, '../../docs');

/** What a kit finds: who fails and why, and for whose sake something is left out. */
export async function looked(checks: readonly ConformanceCheck[]) {
  const failures: string[] = [];
  const skipped: string[] = [];
  for (const { name, run } of checks) {
    await run().then(
      (outcome) => void (outcome.state === 'skipped' && skipped.push(outcome.needs)),
      (thrown: unknown) => failures.push(`${name}: ${messageOf(thrown)}`),
    );
  }
  return { failures, skipped };
}

/** A page for authors has the example as it is, and all rules of its kit; `UPDATE_DOCS=1` writes them. */
export function expectPage(
  file: string,
  example: string,
  rules: readonly { readonly name: string; readonly rule: string }[],
): void {
  const page = readFileSync(join(DOCS, file), 'utf8');
  const source = readFileSync(join(DOCS, 'examples', example), 'utf8');
  const rows = rules.map(({ name, rule }) => `| \`${name}\` | ${rule} |\n`);
  const wanted = page
    .replace(
      /```ts\n[\s\S]*?```/,
      () => `\`\`\`ts\n${source.replace("'../../src/index.ts'", "'@muster-dev/muster'")}\`\`\``,
    )
    .replace(
      /<!-- rules -->[\s\S]*<!-- \/rules -->/,
      () => `<!-- rules -->\n| Rule | |\n| --- | --- |\n${rows.join('')}<!-- /rules -->`,
    );
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(join(DOCS, file), wanted);
  else expect(page).toBe(wanted);
}
