import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../control-plane/client.ts';
import { listPods } from './gang-lives.ts';
import { PODS } from './registered-muster.ts';

/**
 * Puts every Pod without gates on `node`, in place of a scheduler: one that counts gangs tries those that cannot be placed
 * (somebody else's gate) thousands of times a second, which leaves nothing of a small machine to what is tested.
 */
export function startBinder(client: Client, node: string): { stop(): Promise<void> } {
  const ending = new AbortController();
  const bind = async (name: string): Promise<void> => {
    const target = { apiVersion: 'v1', kind: 'Node', name: node };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target };
    await client.request('POST', `${PODS}/${name}/binding`, binding);
  };
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      try {
        const unbound = await listPods(client, { fieldSelector: 'spec.nodeName=' });
        for (const { metadata, spec } of unbound)
          if ((spec.schedulingGates ?? []).length === 0) await bind(metadata.name);
      } catch {
        // The API server is away, and comes back.
      }
      await delay(200, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    stop: () => {
      ending.abort();
      return running;
    },
  };
}
