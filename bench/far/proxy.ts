// Stands between one client and the API server, in a process of its own: every call comes later, and some are refused.
//
// Usage: fork('bench/far/proxy.ts', ['KUBECONFIG', 'FOLDER']); it sends the kubeconfig that leads through it, and takes a
// Distance whenever it changes.
import { setTimeout as delay } from 'node:timers/promises';
import { readKubeconfig } from '../../test/cluster/control-plane/kubeconfig.ts';
import { startFaultProxy } from '../../test/cluster/support/fault-proxy.ts';

/** What becomes of the calls; a watch that was answered is not slowed down. */
export interface Distance {
  /** By which every call reaches the API server later (ms). */
  readonly ms: number;
  /** The share of calls that are answered 429 in its place, with `Retry-After: 1`. */
  readonly refused: number;
}

const [kubeconfig = '', folder = ''] = process.argv.slice(2);
const proxy = await startFaultProxy(await readKubeconfig(kubeconfig), folder, 'far');
process.on('message', ({ ms, refused }: Distance) => {
  let due = 0;
  proxy.setFates(({ watch }) => {
    due += watch ? 0 : refused;
    const refuse = due >= 1;
    if (refuse) due -= 1;
    return { after: delay(ms), fault: refuse ? 'tooMany' : undefined };
  });
});
process.once('disconnect', () => process.exit());
process.send?.(proxy.kubeconfig);
