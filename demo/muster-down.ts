import { GATES_OFF } from './kept.ts';
import { pod } from './objects.ts';
import type { Stage } from './stage.ts';

export async function musterDown(stage: Stage): Promise<void> {
  const { tell } = stage;
  tell.scene('Muster is killed: gangs wait, everything else runs');
  tell.command('kill -9 <muster>');
  await stage.serving.kill();
  const ordinary = await stage.create(pod('web-2', 'x', { labels: { app: 'web' } }));
  tell.check('an ordinary Pod is created as ever', ordinary.code === 0);
  const gang = await stage.create(pod('worker-5', 'worker'));
  tell.check('a gang Pod is refused rather than started half (its controller tries again)', gang.code !== 0);
  const gate = await stage.kubectl(
    ['patch', 'pod', 'eval-leader', '--type=json', '-p', GATES_OFF],
    `patch pod eval-leader --type=json -p '${GATES_OFF}'`,
  );
  tell.check('a gate stays on: the API server keeps it by itself', gate.stderr.includes('[GateProtected]'));
  const gone = await stage.kubectl(['delete', 'pod', 'eval-leader', '--wait=false']);
  tell.check('and deletion is never in the way', gone.code === 0);
}
