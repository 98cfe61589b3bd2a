#!/usr/bin/env node
// Nothing is imported before the version is known to do: an older Node would end with the name of what it lacks.
const NEEDED = 26;
const { node } = process.versions;

if (Number.parseInt(node, 10) < NEEDED) {
  process.stderr.write(
    `error[NODE_TOO_OLD]: Muster needs Node.js ${NEEDED} or later, and this is ${node}\n` +
      'fix: install a newer one (https://nodejs.org); in a checkout "npm ci" brings it: npx node src/main.ts …\n',
  );
  process.exitCode = 2;
} else {
  const { processIo } = await import('./cli/output/io.ts');
  const { run } = await import('./cli/run.ts');
  // Not process.exit(): output that is still on its way to a pipe would be cut off.
  process.exitCode = await run(process.argv.slice(2), processIo());
  // A backend's module may leave timers behind that would keep the process. What is on its way to a pipe goes first.
  process.stdout.write('', () => void setTimeout(() => process.exit(), 1_000).unref());
}

export {};
