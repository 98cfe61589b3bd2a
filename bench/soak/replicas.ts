import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { launch, type ManagedProcess } from '../../test/cluster/control-plane/managed-process.ts';
import { GiveUp, until } from '../../test/cluster/control-plane/until.ts';
import type { Watchdog } from '../../test/cluster/control-plane/watchdog.ts';
import { httpGet } from '../../test/cluster/support/http-get.ts';
import { MUSTER_NAMESPACE } from '../../src/api/names.ts';
import { environmentOfImage, nodeFlagsOfImage } from '../admission/servers.ts';
import type { Slot } from './balancer.ts';
import { NOTICED_MS } from './failures.ts';

/** Seconds: until the balancer sends nothing more, then until no connection is open. */
const DRAIN = { seconds: 5, maxSeconds: 15 };

const CONFIGURATION = JSON.stringify({
  apiVersion: 'operator.config.grove.io/v1alpha1',
  kind: 'OperatorConfiguration',
  scheduler: { profiles: [{ name: 'default-scheduler' }], defaultProfileName: 'default-scheduler' },
  leaderElection: { resourceNamespace: MUSTER_NAMESPACE },
  server: { webhooks: { drain: DRAIN } },
});

export interface Replica {
  readonly slot: number;
  readonly process: ManagedProcess;
}

/** The replicas of a Deployment, each in a slot of the balancer; one slot is free for the next one of a rollout. */
export class Replicas {
  readonly #given: ReplicasGiven;
  readonly #running = new Map<number, Replica>();

  constructor(given: ReplicasGiven) {
    this.#given = given;
  }

  all(): readonly Replica[] {
    return [...this.#running.values()].sort((a, b) => a.slot - b.slot);
  }

  /** Starts the program of a checkout in the first slot that is free. @returns when it is ready */
  async start(root: string): Promise<Replica> {
    const { slots, dir, watchdog, kubeconfig, certificates } = this.#given;
    const slot = slots.findIndex((_, index) => !this.#running.has(index));
    const ports = slots[slot];
    if (ports === undefined) throw new Error('no slot is free');
    const config = join(dir, 'muster.json');
    await writeFile(config, CONFIGURATION);
    const args = [
      ...nodeFlagsOfImage(),
      ...[join(root, 'dist/src/main.js'), 'serve', '--config', config, '--kubeconfig', kubeconfig],
      ...['--cert-dir', certificates, '--port', `${ports.webhooks}`],
      ...['--health-port', `${ports.health}`, '--metrics-port', `${ports.metrics}`],
    ];
    const env = environmentOfImage();
    const process_ = await launch({
      name: `muster-${slot}`,
      path: process.execPath,
      args,
      dir,
      watchdog,
      env,
    });
    const replica = { slot, process: process_ };
    this.#running.set(slot, replica);
    try {
      const ready = async (): Promise<boolean> => {
        if (process_.ended() !== undefined) throw new GiveUp(`${process_.ended()}, see ${process_.logFile}`);
        const { status, text } = await httpGet(ports.health, '/readyz');
        if (status !== 200) throw new Error(text);
        return true;
      };
      // What a kubelet would wait for as long as it takes; a busy machine has made it more than a minute.
      await until(`the replica in slot ${slot} is ready`, ready, { withinMs: 180_000 });
    } catch (error) {
      // What comes next finds three replicas and a free slot.
      await this.kill(replica);
      throw error;
    }
    return replica;
  }

  /** SIGTERM, until it has drained. */
  async terminate({ slot, process }: Replica): Promise<void> {
    await process.stop((DRAIN.seconds + DRAIN.maxSeconds + 10) * 1000);
    this.#running.delete(slot);
  }

  /** SIGKILL. */
  async kill({ slot, process }: Replica): Promise<void> {
    await process.stop(0);
    this.#running.delete(slot);
  }

  /** One after the other: first the new one is ready and known to the balancer, then an old one ends. */
  async roll(root: string): Promise<void> {
    for (const old of this.all()) {
      await this.start(root);
      await new Promise((resolve) => setTimeout(resolve, NOTICED_MS));
      await this.terminate(old);
    }
  }

  metricsPorts(): number[] {
    return this.all().map(({ slot }) => this.#given.slots[slot]?.metrics ?? 0);
  }

  async stop(): Promise<void> {
    await Promise.all(this.all().map((replica) => this.kill(replica)));
  }
}

interface ReplicasGiven {
  readonly slots: readonly Slot[];
  readonly dir: string;
  readonly watchdog: Watchdog;
  readonly kubeconfig: string;
  /** Folder of the serving certificate. */
  readonly certificates: string;
}
