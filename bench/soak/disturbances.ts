import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../test/cluster/control-plane/client.ts';
import type { ControlPlane } from '../../test/cluster/control-plane/control-plane.ts';
import { until } from '../../test/cluster/control-plane/until.ts';
import { httpGet } from '../../test/cluster/support/http-get.ts';
import type { Random } from '../../test/support/random.ts';
import type { Balancer, Slot } from './balancer.ts';
import type { Certificates } from './certificates.ts';
import { causeOf, NOTICED_MS } from './failures.ts';
import { overload } from './load.ts';
import type { Replica, Replicas } from './replicas.ts';
import type { Kind } from './schedule.ts';

export interface Disturbed {
  readonly plane: ControlPlane;
  readonly replicas: Replicas;
  readonly slots: readonly Slot[];
  readonly balancer: Balancer;
  readonly certificates: Certificates;
  readonly random: Random;
  /** For the overload: a client with connections of its own. */
  readonly crowd: Client;
  readonly crowdSize: number;
  readonly overloadSeconds: number;
  readonly overloaded: Map<string, number>;
  /** Folders of this checkout and of the other one. */
  readonly here: string;
  readonly other: string | undefined;
  /** Brings the manifests of a checkout. */
  readonly install: (root: string) => Promise<void>;
}

const STOPPED_MS = 20_000;

/** Does one of them. @returns what was seen of it, when it is over: three replicas are ready again, and all is as before */
export async function disturb(kind: Kind, on: Disturbed): Promise<string> {
  const { plane, replicas, certificates, balancer, here } = on;
  const ports = (): number[] => replicas.all().map(({ slot }) => on.slots[slot]?.webhooks ?? 0);
  switch (kind) {
    case 'rolling restart':
      await replicas.roll(here);
      return 'three replicas, one after the other';
    case 'leaf rotation':
      return `served by all after ${(await certificates.rotateLeaf(ports)).toFixed(0)} ms`;
    case 'CA rotation':
      await certificates.rotateAuthority(ports);
      return 'trust in both, the new leaf, trust in the new one';
    case 'SIGKILL': {
      const { replica, leads } = await victim(on);
      await replicas.kill(replica);
      await replicas.start(here);
      return leads ? 'of the leader' : 'of one that does not lead';
    }
    case 'SIGSTOP for 20 s': {
      const { replica, leads } = await victim(on);
      process.kill(replica.process.pid, 'SIGSTOP');
      // Just before what is begun counts to Muster again.
      await delay(NOTICED_MS - 100);
      await balancer.endConnections(replica.slot);
      await delay(STOPPED_MS - NOTICED_MS);
      process.kill(replica.process.pid, 'SIGCONT');
      return `${leads ? 'of the leader' : 'of one that does not lead'}; ${await afterwards(replica, on)}`;
    }
    case 'balancer restart':
      await balancer.restart();
      await untilCalled(on);
      return 'SIGTERM, and the next one at once';
    case 'API server restart':
      // On a busy machine it may take longer than anybody waits in the tests: what counts is that Pods come through again.
      await plane.restartApiServer().catch(() => undefined);
      await untilCalled(on);
      return 'SIGTERM, SIGKILL after 2 s, and the next one at once';
    case 'overload': {
      const answers = await overload(on.crowd, on.overloadSeconds, on.crowdSize);
      for (const [answer, times] of answers) {
        const cause = answer === 'created' ? answer : causeOf(answer);
        on.overloaded.set(cause, (on.overloaded.get(cause) ?? 0) + times);
      }
      const all = [...answers.values()].reduce((sum, times) => sum + times, 0);
      return `${on.crowdSize} clients at once: ${Math.round(all / on.overloadSeconds)} more creations a second`;
    }
    case 'rollback and upgrade': {
      if (on.other === undefined) throw new Error('there is no other checkout');
      for (const root of [on.other, here]) {
        await on.install(root);
        await replicas.roll(root);
      }
      return 'manifests, then replicas, to the other build and back';
    }
  }
}

/** The leader in half of the cases, since it has the most to lose. */
async function victim({ replicas, slots, random }: Disturbed): Promise<{ replica: Replica; leads: boolean }> {
  const all = await Promise.all(
    replicas.all().map(async (replica) => {
      const { text } = await httpGet(slots[replica.slot]?.metrics ?? 0, '/metrics');
      return { replica, leads: /^muster_loop_leading(?:\{[^}]*\})? 1$/m.test(text) };
    }),
  );
  const wanted = random.chance(50);
  const chosen = all.find(({ leads }) => leads === wanted) ?? all[0];
  if (chosen === undefined) throw new Error('no replica runs');
  return chosen;
}

/** One that was stopped goes on, or has ended because it lost its Lease: then there is another in its place. */
async function afterwards(replica: Replica, { replicas, slots, here }: Disturbed): Promise<string> {
  const ready = async (): Promise<boolean> =>
    (await httpGet(slots[replica.slot]?.health ?? 0, '/readyz')).status === 200;
  await until('it is ready or has ended', () => replica.process.ended() !== undefined || ready());
  // It learns of its Lease with the next call.
  await delay(3_000);
  if (replica.process.ended() === undefined) return 'it went on';
  const how = replica.process.ended();
  await replicas.kill(replica);
  await replicas.start(here);
  return `it ended (${how}) and was started anew`;
}

/** Until a Pod of a gang comes through, as a dry run. */
const untilCalled = ({ crowd }: Disturbed): Promise<unknown> =>
  until('Pods of gangs come through', async () => (await overload(crowd, 0.001, 1)).has('created'), {
    withinMs: 300_000,
  });
