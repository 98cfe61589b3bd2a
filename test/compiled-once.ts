/** Loads what the program may load, so that it is in Node's compile cache before tests start it a hundred times. */
import { spawnSync } from 'node:child_process';

/** Jest's `globalSetup`. Of a part of the tests each process leaves behind what it compiled, where it ends by itself. */
export default function compiledOnce(): void {
  if (process.env['TESTING_MUSTER_WHOLE'] !== '1') return;
  const { status, stderr } = spawnSync(process.execPath, [import.meta.filename], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the program does not load: ${stderr}`);
}

if (process.argv[1] === import.meta.filename) {
  const { verbs } = await import('../src/cli/verbs.ts');
  const { processIo } = await import('../src/cli/output/io.ts');
  const io = processIo();
  for (const verb of verbs) await verb.load(io);
  await import('../src/controller/controller.ts');
  await import('../src/kube/client/find-connection.ts');
  await import('../src/kube/client/http-client.ts');
  await import('../src/kube/client/token-bucket.ts');
}
