#!/usr/bin/env node
import { processIo } from './cli/output/io.ts';
import { run } from './cli/run.ts';

// Not process.exit(): output that is still on its way to a pipe would be cut off.
process.exitCode = await run(process.argv.slice(2), processIo());
// A backend's module may leave timers behind that would keep the process. What is on its way to a pipe goes first.
process.stdout.write('', () => void setTimeout(() => process.exit(), 1_000).unref());
