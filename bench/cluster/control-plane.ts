import type { ControlPlane } from '../../test/cluster/control-plane/control-plane.ts';

const WRITES = new Set(['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE']);
/** What nodes and leaders write by the clock, whatever becomes of Pods. */
const BY_THE_CLOCK = new Set(['leases', 'nodes']);

/** What the API server counted so far. */
export interface Counted {
  /** Writes that it was asked for, by verb and resource. */
  readonly writes: ReadonlyMap<string, number>;
  /** Watches of Pods that it ended because whoever watched read too slowly. */
  readonly watchesEnded: number;
}

export async function countedSoFar(plane: ControlPlane): Promise<Counted> {
  const { body } = await plane.client.request<unknown>('GET', '/metrics');
  const metrics = String(body);
  return { writes: writesIn(metrics), watchesEnded: watchesEndedIn(metrics) };
}

/** @param metrics as Prometheus reads them */
export const watchesEndedIn = (metrics: string): number =>
  [...metrics.matchAll(/^apiserver_terminated_watchers_total\{.*resource="pods".*\} (\S+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );

/** @param metrics as Prometheus reads them */
export function writesIn(metrics: string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [, labels = '', value] of metrics.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const label = (name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
    const [verb, resource, subresource] = [label('verb'), label('resource'), label('subresource')];
    if (!WRITES.has(verb) || BY_THE_CLOCK.has(resource) || label('dry_run') !== '') continue;
    const name = `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`}`;
    sums.set(name, (sums.get(name) ?? 0) + Number(value));
  }
  return sums;
}

/** What came between, a gang; what comes less than once in a hundred gangs is left out. */
export function writesAGang(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  gangs: number,
): Readonly<Record<string, number>> {
  const writes = [...after].flatMap(([name, count]) => {
    const aGang = (count - (before.get(name) ?? 0)) / gangs;
    return aGang >= 0.01 && Number.isFinite(aGang) ? [[name, Number(aGang.toFixed(2))] as const] : [];
  });
  return Object.fromEntries(writes.sort(([a], [b]) => a.localeCompare(b)));
}

async function askEtcd(plane: ControlPlane, path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${plane.etcdUrl}/v3/${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`etcd: ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}

/** MiB of etcd's file once what was overwritten is gone from it. */
export async function etcdMiB(plane: ControlPlane): Promise<number> {
  const { header } = await askEtcd(plane, 'maintenance/status', {});
  const { revision } = header as { revision: string };
  await askEtcd(plane, 'kv/compaction', { revision, physical: true });
  await askEtcd(plane, 'maintenance/defragment', {});
  const { dbSize } = await askEtcd(plane, 'maintenance/status', {});
  return Number(dbSize) / 2 ** 20;
}

/** MiB that etcd uses of its file, with what was overwritten since the last compaction: asking for it costs nothing. */
export const etcdMiBInUse = async (plane: ControlPlane): Promise<number> =>
  Number((await askEtcd(plane, 'maintenance/status', {}))['dbSizeInUse']) / 2 ** 20;
