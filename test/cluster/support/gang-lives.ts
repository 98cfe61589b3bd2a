import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../support/random.ts';
import type { Client, KubeList } from '../control-plane/client.ts';
import { GiveUp, until } from '../control-plane/until.ts';
import type { StoredGang, StoredPod } from './etcd-history.ts';
import { isGated, isInitialized } from './gang-judge.ts';
import { GANGS, GATE, PODS } from './registered-muster.ts';

/** What happens to a gang after its creation. `recreate`: deleted with its Pods and made again under the same names. */
export type Later = 'nothing' | 'scale out' | 'replace' | 'replace by the same name' | 'recreate';

/** What is to become of one gang. */
export interface GangLife {
  readonly name: string;
  readonly groups: readonly { readonly name: string; readonly pods: number }[];
  readonly order: 'Pods first' | 'gang first' | 'gang in between';
  readonly base: string | undefined;
  readonly later: Later;
  /** Somebody else puts a condition on the gang, and gates on a Pod of each group that stay; not where Pods are to come
   *  that wait until the others are bound. */
  readonly foreign: boolean;
}

const LATER = ['scale out', 'replace', 'replace by the same name', 'recreate'] as const;

/**
 * `count` gangs of 1 to 3 groups and 2 to 8 Pods. Every tenth has a base gang; the second has a name of 63 characters,
 * the longest that is a label value.
 */
export function randomLives(random: Random, count: number): GangLife[] {
  const lives: GangLife[] = [];
  for (let index = 0; index < count; index += 1) {
    const groups = Array.from({ length: 1 + random.below(3) }, (_, group) => ({
      name: `group-${group}`,
      pods: 1,
    }));
    const pods = Math.max(groups.length, 2 + random.below(7));
    for (let more = groups.length; more < pods; more += 1) {
      const group = groups[random.below(groups.length)];
      if (group !== undefined) group.pods += 1;
    }
    const name = index === 1 ? `gang-${'x'.repeat(63 - 5)}` : `gang-${index}`;
    const follows = index % 10 === 9 ? lives.at(-9) : undefined;
    lives.push({
      name,
      groups,
      order: random.pick(['Pods first', 'gang first', 'gang in between'] as const),
      base: follows?.name,
      later: laterOf(index, random),
      foreign: index % 10 >= 2 && random.chance(15),
    });
  }
  return lives;
}

/** The first two of every ten stay as they are: a base gang that is made again is not scheduled for a while. */
function laterOf(index: number, random: Random): Later {
  if (index % 10 < 2) return 'nothing';
  // Whatever the seed: each kind once in forty.
  if (index % 10 === 5) return LATER[Math.floor(index / 10) % LATER.length] ?? 'nothing';
  return random.chance(60) ? 'nothing' : random.pick(LATER);
}

/** As long as a storm may last on a busy machine, and what comes after it: the API server is away meanwhile. */
const LONG = { withinMs: 300_000, everyMs: 200 };

export interface Living {
  readonly client: Client;
  readonly random: Random;
  /** Milliseconds at most between two steps of one gang. */
  readonly pauseMs: number;
}

/** Leads one gang through its life, whatever state the API server is in. Returns when nothing more will be done to it. */
export async function live(life: GangLife, living: Living): Promise<void> {
  await create(life, living);
  if (life.foreign) await writeForeignCondition(life.name, living.client);
  await pause(living);
  const [group] = life.groups;
  if (group === undefined) return;
  const first = podName(life, group.name, 0);
  switch (life.later) {
    case 'nothing':
      return;
    case 'scale out':
      await createPod(life, group.name, group.pods, living.client);
      return;
    case 'replace':
    case 'replace by the same name':
      await remove(`${PODS}/${first}`, living.client);
      await createPod(life, group.name, life.later === 'replace' ? group.pods : 0, living.client);
      return;
    case 'recreate':
      await until(`${life.name} has formed`, () => hasFormed(life.name, living.client), LONG);
      await remove(`${GANGS}/${life.name}`, living.client);
      for (const name of podNames(life)) await remove(`${PODS}/${name}`, living.client);
      // The Pods first: while the gang is not there, nobody may take what is known of its predecessor for it.
      await create({ ...life, order: 'Pods first' }, living);
  }
}

/** The names that the gang's Pods have in the end, by group. */
export function namesInTheEnd({ name, groups, later }: GangLife): string[][] {
  return groups.map((group, index) => {
    const numbers = Array.from({ length: group.pods }, (_, pod) => pod);
    if (index === 0 && (later === 'scale out' || later === 'replace')) numbers.push(group.pods);
    if (index === 0 && later === 'replace') numbers.shift();
    return numbers.map((number) => `${name}-${group.name}-${number}`).sort();
  });
}

export const listPods = async (
  client: Client,
  query: Record<string, string> = {},
): Promise<readonly StoredPod[]> =>
  (await client.ok<KubeList<StoredPod>>('GET', PODS, undefined, { query })).items;

async function hasFormed(name: string, client: Client): Promise<boolean> {
  const gang = await client.ok<StoredGang>('GET', `${GANGS}/${name}`);
  const pods = await listPods(client, { labelSelector: `grove.io/podgang=${name}` });
  return isInitialized(gang) && pods.length > 0 && !pods.some(isGated);
}

async function create(life: GangLife, living: Living): Promise<void> {
  const pods = life.groups.flatMap((group) =>
    Array.from({ length: group.pods }, (_, pod) => [group.name, pod] as const),
  );
  const at = { 'gang first': 0, 'Pods first': pods.length, 'gang in between': pods.length >> 1 }[life.order];
  for (const [index, [group, pod]] of pods.entries()) {
    if (index === at) await createGang(life, living.client);
    await createPod(life, group, pod, living.client);
    if (living.random.chance(20)) await pause(living);
  }
  if (at === pods.length) await createGang(life, living.client);
}

const podName = (life: GangLife, group: string, pod: number): string => `${life.name}-${group}-${pod}`;
const podNames = (life: GangLife): string[] =>
  life.groups.flatMap((group) =>
    Array.from({ length: group.pods }, (_, pod) => podName(life, group.name, pod)),
  );
const pause = ({ random, pauseMs }: Living): Promise<void> => delay(random.below(pauseMs));

const KUBE = { 'grove.io/scheduler-name': 'default-scheduler' };
const FOREIGN = { 'example.com/team': 'research' };

const createGang = ({ name, groups }: GangLife, client: Client): Promise<void> =>
  persist(client, 'POST', GANGS, {
    apiVersion: 'scheduler.grove.io/v1alpha1',
    kind: 'PodGang',
    metadata: { name, labels: { ...KUBE, ...FOREIGN }, annotations: FOREIGN },
    spec: { podgroups: groups.map((group) => ({ name: group.name, minReplicas: group.pods })) },
  });

const createPod = (life: GangLife, group: string, pod: number, client: Client): Promise<void> =>
  persist(client, 'POST', PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName(life, group, pod),
      labels: {
        'grove.io/podgang': life.name,
        'grove.io/podclique': group,
        ...(life.base === undefined ? {} : { 'grove.io/base-podgang': life.base }),
        ...KUBE,
        ...FOREIGN,
      },
      annotations: FOREIGN,
    },
    spec: {
      containers: [{ name: 'main', image: 'example/train:1' }],
      ...(life.foreign && pod === 0 && life.later !== 'scale out'
        ? { schedulingGates: [{ name: 'example.com/quota' }, { name: GATE }, { name: 'example.com/other' }] }
        : {}),
    },
  });

const remove = (path: string, client: Client): Promise<void> =>
  persist(client, 'DELETE', path, undefined, true);

/** Until it is done, or known to have been done by an earlier try whose answer was lost. */
async function persist(
  client: Client,
  method: 'POST' | 'DELETE',
  path: string,
  body?: unknown,
  atOnce = false,
): Promise<void> {
  const query = atOnce ? { gracePeriodSeconds: 0 } : {};
  await until(
    `${method} ${path}`,
    async () => {
      const { status, body: answer } = await client.request(method, path, body, { query });
      if (status < 300 || status === (method === 'POST' ? 409 : 404)) return true;
      if (status === 400 || status === 422)
        throw new GiveUp(`${method} ${path}: ${status} ${answer.message}`);
      throw new Error(`${status} ${answer.message}`);
    },
    LONG,
  );
}

/** As another controller would: the whole list, on what was read, again if somebody was quicker. */
async function writeForeignCondition(name: string, client: Client): Promise<void> {
  const path = `${GANGS}/${name}`;
  const audited = {
    type: 'example.com/Audited',
    status: 'True',
    reason: 'Audited',
    message: 'looked at by somebody else',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  await until(
    `${name} has the condition of somebody else`,
    async () => {
      const { metadata, status } = await client.ok<StoredGang & { metadata: { resourceVersion: string } }>(
        'GET',
        path,
      );
      const conditions = status?.conditions ?? [];
      if (conditions.some(({ type }) => type === audited.type)) return true;
      const { resourceVersion } = metadata;
      const patch = { metadata: { resourceVersion }, status: { conditions: [...conditions, audited] } };
      return (await client.request('PATCH', `${path}/status`, patch)).status < 300;
    },
    LONG,
  );
}
