import { processIo } from '../src/cli/output/io.ts';
import { run } from '../src/cli/run.ts';
import { demoCommand } from './demo.ts';

const verb = {
  name: 'demo',
  summary: 'watch a real API server send reviews to Muster',
  load: (io: Parameters<typeof demoCommand>[0]) => Promise.resolve(demoCommand(io)),
};

process.exitCode = await run(['demo', ...process.argv.slice(2)], processIo(), [verb]);
