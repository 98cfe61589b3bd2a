import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { LoadJob, LoadResult } from './load-job.ts';
import type { Placement } from './placement.ts';
import type { RunningServer, Scratch } from './servers.ts';

const run = promisify(execFile);

export type Load = Pick<LoadJob, 'size' | 'connections' | 'mode' | 'rampMs' | 'window'>;

/**
 * Runs the load generator once against `server`. A new process each time: no round profits from what an earlier one
 * left behind in the client.
 */
export async function generateLoad(
  server: RunningServer,
  load: Load,
  { scratch, placement }: { scratch: Scratch; placement: Placement },
): Promise<LoadResult> {
  const { serverCore } = placement;
  const job: LoadJob = {
    ...load,
    port: server.port,
    caFile: scratch.caFile,
    serverPid: server.pid,
    ...(serverCore === undefined ? {} : { serverCore }),
  };
  const program = join(import.meta.dirname, 'load.ts');
  const [file = '', ...args] = [...placement.onClientCore, process.execPath, program, JSON.stringify(job)];
  try {
    const { stdout } = await run(file, args, { maxBuffer: 1 << 20 });
    return JSON.parse(stdout) as LoadResult;
  } catch (thrown) {
    const printed = (thrown as { stderr?: string }).stderr?.trim() ?? String(thrown);
    throw new Error(`the load generator failed against ${server.name}: ${printed}`, { cause: thrown });
  }
}
