import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { CliIo } from '../src/cli/output/io.ts';
import { keepAlive } from './living-gangs.ts';
import type { Stage } from './stage.ts';

/** The program's page, with gangs that live, until Ctrl-C. @param main the file that is Muster */
export async function onDashboard(stage: Stage, main: string, io: CliIo): Promise<void> {
  const enough = new AbortController();
  const silence = io.onEnough?.(() => enough.abort());
  stage.tell.command('muster dashboard');
  const env = { ...process.env, KUBECONFIG: stage.plane.kubeconfig };
  const page = spawn(process.execPath, [main, 'dashboard'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(page, 'close').finally(() => enough.abort());
  page.stdout.on('data', (text) => io.stdout(String(text)));
  page.stderr.on('data', (text) => io.stderr(String(text)));
  try {
    await keepAlive(stage, enough.signal);
  } finally {
    enough.abort();
    page.kill();
    await ended;
    silence?.();
  }
}
