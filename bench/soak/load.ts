import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject } from '../../src/kube/client/resources.ts';
import type { Client } from '../../test/cluster/control-plane/client.ts';
import { GANGS, gangPod, NAMESPACE, PODS } from '../../test/cluster/support/registered-muster.ts';
import { Random } from '../../test/support/random.ts';

/** One try to create an object. */
export interface Attempt {
  /** When it was due, and when its answer came (ms of this process's clock). */
  readonly begun: number;
  readonly ended: number;
  /** What came instead of the object; undefined: it is there. */
  readonly failure: string | undefined;
}

/** Pods of a gang. */
const SMALLEST = 2;
const LARGEST = 14;
const TICK_MS = 10;
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 5_000;
/** Clients wait for each other above this: a cluster has no unbounded number of controllers. */
export const MOST_IN_FLIGHT = 256;

export interface Load {
  readonly created: () => { readonly gangs: number; readonly pods: number };
  /** Pods that were due and have not been sent, since too many are in flight. */
  readonly behind: () => number;
  /** When every creation of a gang was answered well: before that its owner must not take it away, or a retry makes it anew. */
  settled(gang: string): Promise<unknown>;
  /** Begins no gang any more. @returns when every object that was begun is stored */
  stop(): Promise<void>;
}

/**
 * Creates gangs, `rate` Pods a second by the clock, whatever becomes of those before: one that is answered late delays no
 * other. What fails is tried again, as a controller does, until it is there.
 */
export function startLoad(given: {
  readonly client: Client;
  readonly rate: number;
  readonly seed: number;
  readonly attempted: (attempt: Attempt) => void;
}): Load {
  const { client, rate, seed, attempted } = given;
  const random = new Random(seed);
  const started = performance.now();
  const flying = new Set<Promise<void>>();
  const ofGang = new Map<string, Promise<void>[]>();
  let [running, gangs, pods, sent, left] = [true, 0, 0, 0, 0];
  let size = 0;

  const create = async (path: string, object: object, due: number): Promise<void> => {
    let begun = due;
    for (let pause = RETRY_MS; ; pause = Math.min(LONGEST_RETRY_MS, 2 * pause)) {
      const failure = await failureOf(client, path, object);
      attempted({ begun, ended: performance.now(), failure });
      if (failure === undefined) return;
      await delay(pause);
      begun = performance.now();
    }
  };
  const launch = (gang: string, creating: Promise<void>): void => {
    const flight = creating.finally(() => flying.delete(flight));
    flying.add(flight);
    ofGang.set(gang, [...(ofGang.get(gang) ?? []), flight]);
  };
  const next = (due: number): void => {
    if (left === 0) {
      gangs += 1;
      size = SMALLEST + random.below(LARGEST - SMALLEST + 1);
      left = size;
      launch(nameOf(gangs), create(GANGS, loadGang(nameOf(gangs), size), due));
    }
    const index = size - left;
    const pod = loadPod(nameOf(gangs), index);
    launch(
      nameOf(gangs),
      create(PODS, pod, due).then(() => void (pods += 1)),
    );
    left -= 1;
    sent += 1;
  };
  const due = (): number => Math.floor(((performance.now() - started) / 1000) * rate);
  const run = async (): Promise<void> => {
    // The last gang gets all of its Pods.
    while (running || left > 0) {
      while ((running ? sent < due() : left > 0) && flying.size < MOST_IN_FLIGHT)
        next(Math.min(performance.now(), started + (sent / rate) * 1000));
      await delay(TICK_MS);
    }
  };
  const done = run();
  return {
    created: () => ({ gangs, pods }),
    settled: async (gang) => {
      await Promise.all(ofGang.get(gang) ?? []);
      ofGang.delete(gang);
    },
    behind: () => Math.max(0, due() - sent),
    stop: async () => {
      running = false;
      await done;
      while (flying.size > 0) await Promise.all(flying);
    },
  };
}

/** More of the same for some seconds, as dry runs, by as many clients as there are sockets. @returns answers by status */
export async function overload(
  client: Client,
  seconds: number,
  clients: number,
): Promise<Map<string, number>> {
  const answers = new Map<string, number>();
  const end = performance.now() + seconds * 1000;
  const work = async (): Promise<void> => {
    while (performance.now() < end) {
      const failure = await failureOf(client, PODS, gangPod(), { dryRun: 'All' });
      const kind = failure ?? 'created';
      answers.set(kind, (answers.get(kind) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
  return answers;
}

async function failureOf(
  client: Client,
  path: string,
  object: object,
  query: Readonly<Record<string, string>> = {},
): Promise<string | undefined> {
  try {
    const { status, body } = await client.request('POST', path, object, { query });
    // A try whose answer was lost has made it.
    return status < 300 || status === 409 ? undefined : `${status} ${body.message ?? ''}`;
  } catch (error) {
    return `no answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}

const nameOf = (gang: number): string => `gang-${gang}`;

/** A leader and the workers of it, all of them needed. */
export const loadGang = (name: string, size: number, namespace = NAMESPACE): KubeObject => ({
  apiVersion: 'scheduler.grove.io/v1alpha1',
  kind: 'PodGang',
  metadata: { name, namespace },
  spec: {
    podgroups: [
      { name: 'leader', minReplicas: 1 },
      { name: 'worker', minReplicas: size - 1 },
    ],
  },
});

export const loadPod = (gang: string, index: number, namespace = NAMESPACE): KubeObject =>
  gangPod(
    { name: `${gang}-${index}`, namespace },
    {
      containers: [{ name: 'main', image: 'example/train:1', resources: { requests: { cpu: '100m' } } }],
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
    },
    { 'grove.io/podgang': gang, 'grove.io/podclique': index === 0 ? 'leader' : 'worker' },
  ) as KubeObject;

/** Takes away a gang that has ended, as its owner does; tries again until `signal` aborts. */
export async function remove(client: Client, gang: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const object = await client.request('DELETE', `${GANGS}/${gang}`);
      const pods = await client.request('DELETE', PODS, undefined, {
        query: { labelSelector: `grove.io/podgang=${gang}` },
      });
      if (pods.status < 300 && (object.status < 300 || object.status === 404)) return;
    } catch {
      // The API server restarts.
    }
    await delay(RETRY_MS);
  }
}
