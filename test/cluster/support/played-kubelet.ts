import type { Client, KubeList, KubeObject } from '../control-plane/client.ts';

const OWN_PODS = '/api/v1/namespaces/muster-system/pods';

/**
 * Does to Muster's Pods what a kubelet does, for as long as the work takes: those that are to end are gone at once.
 * @param ended called before the first one goes: the program ends, which in a test runs beside the cluster
 */
export async function whilePodsEnd<T>(
  client: Client,
  work: Promise<T>,
  ended: () => Promise<unknown> = () => Promise.resolve(),
): Promise<T> {
  let ending: Promise<unknown> | undefined;
  const look = async (): Promise<void> => {
    const { items } = await client.ok<KubeList<KubeObject>>('GET', OWN_PODS);
    const gone = items.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    if (gone.length > 0) await (ending ??= ended());
    for (const { metadata } of gone)
      await client.request('DELETE', `${OWN_PODS}/${metadata.name}`, { gracePeriodSeconds: 0 });
  };
  const timer = setInterval(() => void look().catch(() => undefined), 300);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
