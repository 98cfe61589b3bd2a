import type { Client } from '../control-plane/client.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import type { Release } from '../control-plane/releases.ts';

const KINDS = ['podgroups', 'workloads'] as const;

/** Native gangs by the API of a release, since what the tests know otherwise is of one release alone. */
export const nativeOf = ({ gangApi = 'none' }: Release, kind: (typeof KINDS)[number], namespace?: string) =>
  `/apis/scheduling.k8s.io/${gangApi}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${kind}`;

/** What src/backends/native/README.md has an operator do before the step, Muster being away: with `kubectl`, as it is there. */
export const deletionOf = (page: string): string =>
  /<!-- before the step -->\n+```sh\n([^]*?)```/.exec(page)?.[1] ?? '';

const range = (kind: string) => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  // `0` is the character after `/`.
  return { key: base64(`/registry/${kind}/`), range_end: base64(`/registry/${kind}0`) };
};

async function ask<T>(plane: ControlPlane, verb: string, body: object): Promise<T> {
  const answer = await fetch(`${plane.etcdUrl}/v3/kv/${verb}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`etcd: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

/** What etcd keeps of native gangs, whichever release has written it and whether or not an API server can read it. */
export async function keptInEtcd(plane: ControlPlane): Promise<string[]> {
  const answers = KINDS.map((kind) =>
    ask<{ kvs?: { key: string }[] }>(plane, 'range', { ...range(kind), keys_only: true }),
  );
  return (await Promise.all(answers)).flatMap(({ kvs = [] }) =>
    kvs.map(({ key }) => Buffer.from(key, 'base64').toString()),
  );
}

/** As `etcdctl del --prefix /registry/podgroups/`, and the same of Workloads. */
export const deletedFromEtcd = async (plane: ControlPlane): Promise<void> => {
  for (const kind of KINDS) await ask(plane, 'deleterange', range(kind));
};

/** What the API server says of all PodGroups, by the API of a release. */
export const podGroupsAsked = (client: Client, release: Release) =>
  client.request<{ items?: readonly unknown[]; message?: string }>('GET', nativeOf(release, 'podgroups'));
