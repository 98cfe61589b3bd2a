#!/usr/bin/env node
// Nothing is imported before the version is checked: an older Node would fail with the name of a missing function.
const NEEDED = 26;
const { node } = process.versions;

if (Number.parseInt(node, 10) < NEEDED) {
  process.stderr.write(
    `error[NODE_TOO_OLD]: Muster needs Node.js ${NEEDED} or later, and this is ${node}\n` +
      'fix: install a newer one (https://nodejs.org); in a checkout "npm ci" brings it: node_modules/.bin/node src/main.ts …\n',
  );
  process.exitCode = 2;
} else {
  const { processIo } = await import('./cli/output/io.ts');
  const { run } = await import('./cli/run.ts');
  // process.exit() would cut off output that is still being written to a pipe.
  process.exitCode = await run(process.argv.slice(2), processIo());
  // A backend's module may leave timers behind that keep the process alive. Output to a pipe is written first.
  process.stdout.write('', () => void setTimeout(() => process.exit(), 1_000).unref());
}

export {};
