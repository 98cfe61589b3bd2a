import { readFileSync } from 'node:fs';
import { GATE_POD_GANG_PENDING } from '../../src/api/names.ts';
import { findConnection } from '../../src/kube/client/find-connection.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { PODS, type KubeObject } from '../../src/kube/client/resources.ts';
import type { ControlPlane } from '../../test/cluster/control-plane/control-plane.ts';
import { startControlPlane } from '../../test/cluster/control-plane/start.ts';
import { until } from '../../test/cluster/control-plane/until.ts';
import { buildPeer } from '../admission/build-peer.ts';
import { makeScratch, startServer, type RunningServer, type Scratch } from '../admission/servers.ts';
import { benchPod } from '../loop/objects.ts';
import { ANYWHERE } from '../loop/stage.ts';
import { figure, short, withInterval, type StageReport } from '../measure/figures.ts';
import { inParallel } from '../measure/in-parallel.ts';
import { meanOf, NOTHING, plainMean, ratioOf, type Estimate } from '../measure/interval.ts';
import { cpuMicrosOf } from '../measure/process-usage.ts';

export interface ApiServerTiming {
  readonly rounds: number;
  /** In one turn of one contender. */
  readonly pods: number;
}

/** `none`: no webhook is asked. */
const CONTENDERS = ['none', 'bare', 'muster', 'peer'] as const;
type Contender = (typeof CONTENDERS)[number];

interface Turn {
  readonly ms: number;
  /** Of API server and etcd. */
  readonly serverCpuMs: number;
}

const CREATORS = 8;
const MAX_TO_BARE = 1.1;
const SELECTED = 'bench.example.com/webhook';

/**
 * Creating gang Pods through a real API server: with no webhook, and with each of the three in a namespace of its own.
 * Everybody takes turns of some Pods, in an order that rotates, so that drift hits all.
 */
export async function measureApiServer(
  { rounds, pods }: ApiServerTiming,
  progress: (line: string) => void,
): Promise<StageReport> {
  const peer = buildPeer(progress);
  const { scratch, remove } = await makeScratch();
  const servers: RunningServer[] = [];
  try {
    for (const name of ['bare', 'muster', 'peer'] as const) {
      if (name === 'peer' && 'missing' in peer) continue;
      const peerProgram = 'program' in peer ? peer.program : '';
      servers.push(await startServer(name, scratch, { placement: ANYWHERE, peerProgram }));
    }
    const plane = await startControlPlane();
    try {
      await register(plane, servers, scratch);
      const present = CONTENDERS.filter((one) => one === 'none' || servers.some(({ name }) => name === one));
      const turns = await takeTurns(plane, present, { rounds, pods }, progress);
      return report(turns, rounds * pods);
    } finally {
      await plane.stop();
    }
  } finally {
    for (const server of servers) await server.stop();
    remove();
  }
}

/** One configuration for all, as several programs have theirs; which is asked the namespace says. */
async function register({ client }: ControlPlane, servers: readonly RunningServer[], { caFile }: Scratch) {
  for (const name of CONTENDERS) {
    const metadata = { name: `bench-${name}`, labels: { [SELECTED]: name } };
    await client.ok('POST', '/api/v1/namespaces', { metadata });
  }
  await client.ok('POST', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
    metadata: { name: 'bench' },
    webhooks: servers.map(({ name, port }) => ({
      name: `${name}.bench.example.com`,
      namespaceSelector: { matchLabels: { [SELECTED]: name } },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
      clientConfig: {
        url: `https://localhost:${port}/mutate-v1-pod`,
        caBundle: readFileSync(caFile).toString('base64'),
      },
      failurePolicy: 'Fail',
      sideEffects: 'None',
      timeoutSeconds: 10,
      admissionReviewVersions: ['v1'],
    })),
  });
}

async function takeTurns(
  plane: ControlPlane,
  present: readonly Contender[],
  { rounds, pods }: ApiServerTiming,
  progress: (line: string) => void,
): Promise<ReadonlyMap<Contender, readonly Turn[]>> {
  const connection = await findConnection({ kubeconfig: plane.kubeconfig });
  const client = createKubeClient(connection, { connections: CREATORS, userAgent: 'bench' });
  const turns = new Map<Contender, Turn[]>(present.map((name) => [name, []]));
  const servers = Object.values(plane.pids());
  const cpuMs = (): number => servers.reduce((sum, pid) => sum + cpuMicrosOf(pid), 0) / 1000;
  try {
    let made = 0;
    const create = (contender: Contender): Promise<KubeObject> =>
      client.create<KubeObject>(PODS, gangPod(contender, made++));
    for (const one of present) await awaitWebhook(one, create);
    // The first round is for connections and compilers.
    for (let round = -1; round < rounds; round += 1) {
      for (let at = 0; at < present.length; at += 1) {
        const one = present[(at + round + 1) % present.length] as Contender;
        const [from, since] = [cpuMs(), performance.now()];
        await inParallel(Array.from({ length: pods }), CREATORS, () => create(one));
        const turn = { ms: performance.now() - since, serverCpuMs: cpuMs() - from };
        if (round >= 0) turns.get(one)?.push(turn);
      }
      if (round % 10 === 9) progress(`api-server: round ${round + 1} of ${rounds}`);
    }
  } finally {
    await client.close();
  }
  return turns;
}

/** The API server takes a moment to know of a webhook; where it is asked, the Pod has what it adds. */
async function awaitWebhook(one: Contender, create: (one: Contender) => Promise<KubeObject>): Promise<void> {
  await until(`the webhook ${one} is asked`, async () => {
    const { spec } = await create(one);
    const { schedulingGates = [] } = spec as { schedulingGates?: { name: string }[] };
    return schedulingGates.some(({ name }) => name === GATE_POD_GANG_PENDING) === (one !== 'none');
  });
}

/** As it comes from a controller: no gate yet. */
function gangPod(contender: Contender, index: number): KubeObject {
  const pod = benchPod(`bench-${contender}`, { gang: 0, index, contender: 'muster' });
  return { ...pod, spec: { ...(pod.spec as object), schedulingGates: [] } };
}

const NAMES: Readonly<Record<Contender, string>> = {
  none: 'no webhook',
  bare: 'bare node:https',
  muster: 'Muster',
  peer: 'controller-runtime',
};

function report(turns: ReadonlyMap<Contender, readonly Turn[]>, pods: number): StageReport {
  const ms = (name: Contender): number[] => (turns.get(name) ?? []).map((turn) => turn.ms);
  const ratio = (name: Contender): Estimate =>
    ms(name).length === 0 ? NOTHING : ratioOf(ms(name), ms('bare'));
  const perPod = (name: Contender): number[] =>
    ms(name).map((one) => (one * (turns.get(name)?.length ?? 0)) / pods);
  const rows = [...turns].map(([name, of]) => [
    NAMES[name],
    short(plainMean(perPod(name)) * 500),
    short(plainMean(perPod(name))),
    name === 'bare' ? '1' : withInterval(ratio(name)),
    short((plainMean(of.map(({ serverCpuMs }) => serverCpuMs)) * of.length) / pods),
  ]);
  const head = [
    `created through the API server`,
    '500 Pods, ms',
    'ms a Pod',
    '× bare',
    'API server CPU ms a Pod',
  ];
  return {
    tables: { 'api-server': [head, ...rows] },
    figures: [
      ...CONTENDERS.map((name) =>
        figure(
          'api-server',
          `creating a Pod, ms, ${NAMES[name]}`,
          ms(name).length === 0 ? NOTHING : meanOf(perPod(name)),
        ),
      ),
      figure('api-server', 'creating Pods with Muster, times bare', ratio('muster'), { most: MAX_TO_BARE }),
    ],
  };
}
