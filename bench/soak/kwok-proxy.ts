// Stands between kwok and the API server, in a process of its own, and hides the Pods that run from kwok.
//
// kwok begins each watch with all bound Pods, every five to ten minutes. From some 50,000 on reading them takes it longer
// than the API server keeps what changes meanwhile: the watch is ended, and the next one begins with all of them again.
// A kubelet has the Pods of its own node alone.
//
// Usage: fork('bench/soak/kwok-proxy.ts', ['KUBECONFIG', 'FOLDER']); it sends the kubeconfig that leads through it.
import { readKubeconfig } from '../../test/cluster/control-plane/kubeconfig.ts';
import { startFaultProxy } from '../../test/cluster/support/fault-proxy.ts';
import { withoutRunningPods } from './kwok.ts';

const [kubeconfig = '', folder = ''] = process.argv.slice(2);
const proxy = await startFaultProxy(await readKubeconfig(kubeconfig), folder, 'kwok');
proxy.setFates(({ path }) => ({ path: withoutRunningPods(path) }));
process.once('disconnect', () => process.exit());
process.send?.(proxy.kubeconfig);
