// Lists what Muster lists, in a process of its own: node bench/loop/bare-list.ts KUBECONFIG prints the milliseconds.
import { execFile } from 'node:child_process';
import { request } from 'node:https';
import { promisify } from 'node:util';
import { PROTOBUF_OR_JSON } from '../../src/kube/client/watch-frames.ts';
import { POD_GANGS, PODS, collectionPath, type Resource } from '../../src/kube/client/resources.ts';
import { readKubeconfig } from '../../test/cluster/control-plane/kubeconfig.ts';
import { LABEL_POD_GANG } from '../../src/api/names.ts';

const END = 'k8s.io/initial-events-end';

/**
 * Receives both lists as streams, in the encodings that Muster asks for, and reads nothing of them: what API server and wire
 * need by themselves.
 * @returns milliseconds until the bookmarks that end them
 */
export async function bareListMs(kubeconfig: string): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [import.meta.filename, kubeconfig]);
  return Number(stdout);
}

async function receiveBoth(kubeconfig: string): Promise<number> {
  const since = performance.now();
  await Promise.all([receive(kubeconfig, PODS, LABEL_POD_GANG), receive(kubeconfig, POD_GANGS)]);
  return performance.now() - since;
}

async function receive(kubeconfig: string, resource: Resource, labelSelector?: string): Promise<void> {
  const { url, ca, identity } = await readKubeconfig(kubeconfig);
  const query = new URLSearchParams({
    watch: '1',
    allowWatchBookmarks: 'true',
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
    ...(labelSelector !== undefined && { labelSelector }),
  });
  const accept = PROTOBUF_OR_JSON;
  const proof =
    'token' in identity
      ? { headers: { accept, authorization: `Bearer ${identity.token}` } }
      : { headers: { accept }, cert: identity.certificate, key: identity.key };
  const address = new URL(`${collectionPath(resource)}?${query.toString()}`, url);
  await new Promise<void>((resolve, reject) => {
    const asked = request(address, { ca, agent: false, ...proof }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`a bare list: HTTP ${answer.statusCode}`));
      let tail = '';
      answer.on('data', (chunk: Buffer) => {
        // The bookmark is the last of all and may stand in two chunks.
        tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - 1024))).slice(-2048);
        if (!tail.includes(END)) return;
        resolve();
        asked.destroy();
      });
      answer.once('end', () => reject(new Error('a bare list ended without its bookmark')));
    });
    asked.once('error', reject).end();
  });
}

if (import.meta.main) process.stdout.write(String(await receiveBoth(process.argv[2] ?? '')));
