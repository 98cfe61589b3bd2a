import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '../../src/json/json.ts';
import { json } from './pods.ts';

const page = readFileSync(new URL('../../docs/workloads.md', import.meta.url), 'utf8');

/** The objects of an example of docs/workloads.md, by the name in the comment above it. */
export function examples(name: string): JsonObject[] {
  const [, text] = new RegExp(`<!-- ${name} -->\\n\`\`\`yaml\\n([^]*?)\`\`\``).exec(page) ?? [];
  if (text === undefined) throw new Error(`docs/workloads.md has no example "${name}"`);
  return parseAllDocuments(text).map((document) => json(document.toJS() as object));
}

/** The first of them. */
export const example = (name: string): JsonObject => json(examples(name)[0] ?? {});

/** The names of all of them; each block of YAML that is an object has one. */
export const exampleNames = (): string[] =>
  [...page.matchAll(/(?:<!-- ([\w-]+) -->\n)?```yaml\n(?:apiVersion|kind):/g)].map(([, name = '']) => name);
