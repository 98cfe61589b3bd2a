import type { Client, KubeList } from '../control-plane/client.ts';
import { until } from '../control-plane/until.ts';
import type { StoredGang, StoredPod, Version } from './etcd-history.ts';
import { isGated, isInitialized } from './gang-judge.ts';
import { listPods, namesInTheEnd, type GangLife } from './gang-lives.ts';
import { GANGS } from './registered-muster.ts';

interface State {
  readonly gangs: ReadonlyMap<string, StoredGang>;
  readonly pods: readonly StoredPod[];
}

/** Gangs that are not as they should be in the end, and how they are. */
export async function stuckGangs(client: Client, lives: readonly GangLife[]): Promise<string[]> {
  const gangs = await client.ok<KubeList<StoredGang>>('GET', GANGS);
  const pods = await listPods(client, { labelSelector: 'grove.io/podgang' });
  return differences({ gangs: byName(gangs.items), pods }, lives);
}

/** @throws naming the gangs that are stuck, and how */
export async function untilAllFormed(
  client: Client,
  lives: readonly GangLife[],
  withinMs = 120_000,
): Promise<void> {
  let wrong: string[] = [];
  const probe = async (): Promise<boolean> => {
    wrong = await stuckGangs(client, lives);
    return wrong.length === 0;
  };
  await until('every gang has formed', probe, { withinMs, everyMs: 200 }).catch((cause: unknown) => {
    throw new Error(`${wrong.length} gangs are stuck: ${wrong.slice(0, 10).join('; ')}`, { cause });
  });
}

/** What at the end of a history is not as it should be. */
export function unlikeInTheEnd(history: readonly Version[], lives: readonly GangLife[]): string[] {
  const last = { pod: new Map<string, StoredPod>(), gang: new Map<string, StoredGang>() };
  for (const { kind, name, object } of history) {
    if (object === undefined) last[kind].delete(name);
    else last[kind].set(name, object as StoredPod & StoredGang);
  }
  return differences({ gangs: last.gang, pods: Array.from(last.pod.values()) }, lives);
}

function differences({ gangs, pods }: State, lives: readonly GangLife[]): string[] {
  const podsOf = Map.groupBy(pods, ({ metadata }) => metadata.labels?.['grove.io/podgang'] ?? '');
  return lives.flatMap((life) => {
    const gang = gangs.get(life.name);
    if (gang === undefined) return [`${life.name} is not there`];
    const wanted = JSON.stringify(namesInTheEnd(life));
    const named = JSON.stringify(
      gang.spec.podgroups.map(({ podReferences = [] }) => podReferences.map(({ name }) => name)),
    );
    const own = podsOf.get(life.name) ?? [];
    const there = JSON.stringify(own.map(({ metadata }) => metadata.name).sort());
    const gated = own.filter(isGated).map(({ metadata }) => metadata.name);
    const foreign = gang.status?.conditions?.some(({ type }) => type === 'example.com/Audited') === true;
    return [
      ...(there === JSON.stringify(namesInTheEnd(life).flat().sort()) ? [] : [`Pods ${there}`]),
      ...(named === wanted ? [] : [`refers to ${named} and not ${wanted}`]),
      ...(isInitialized(gang) ? [] : [`not Initialized (${words(gang)})`]),
      ...(gated.length === 0 ? [] : [`gated: ${gated.join()} (${words(gang)})`]),
      ...(!life.foreign || foreign || life.later === 'recreate'
        ? []
        : ['the condition of somebody else is gone']),
    ].map((what) => `${life.name} (${life.order}, ${life.later}): ${what}`);
  });
}

/** What the gang itself says. */
const words = ({ status }: StoredGang): string =>
  (status?.conditions ?? [])
    .filter((condition) => condition.status === 'False')
    .map(({ message }) => message)
    .join('; ');

const byName = (gangs: readonly StoredGang[]): ReadonlyMap<string, StoredGang> =>
  new Map(gangs.map((gang) => [gang.metadata.name, gang]));
