import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The flags of Node with which the image starts Muster: what is measured is what is shipped. */
export function nodeFlagsOfImage(): string[] {
  const text = readFileSync(join(import.meta.dirname, '..', 'Dockerfile'), 'utf8');
  const entry = /^ENTRYPOINT (\[.*\])$/m.exec(text)?.[1];
  if (entry === undefined) throw new Error('the Dockerfile has no ENTRYPOINT in JSON');
  return (JSON.parse(entry) as string[]).filter((word) => word.startsWith('--'));
}
