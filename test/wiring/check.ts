/** What nobody heard in a run whose tests wrote what they heard into the folder given: `node test/wiring/check.ts DIR`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ELSEWHERE, everythingSaid } from './said.ts';

export function heardByNone(directory: string): string[] {
  const heard = new Map<string, string[]>();
  for (const file of readdirSync(directory)) {
    for (const line of readFileSync(join(directory, file), 'utf8').split('\n').filter(Boolean)) {
      const [kind, what] = JSON.parse(line) as [string, string];
      heard.set(kind, [...(heard.get(kind) ?? []), what]);
    }
  }
  return everythingSaid()
    .filter(({ kind, what }) => ELSEWHERE[`${kind} ${what}`] === undefined)
    .filter((one) => heard.get(one.kind)?.some((line) => one.heard(line)) !== true)
    .map(({ kind, what, at }) => `${kind} ${what} (${at})`);
}

if (process.argv[1] === import.meta.filename) {
  const missing = heardByNone(process.argv[2] ?? '.');
  process.stdout.write(missing.map((line) => `${line}\n`).join(''));
  process.exitCode = missing.length > 0 ? 1 : 0;
}
