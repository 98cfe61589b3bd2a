import { mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MUSTER_USER } from '../../src/api/names.ts';
import { createClient, type Client } from '../../test/cluster/control-plane/client.ts';
import { freePorts } from '../../test/cluster/control-plane/ports.ts';
import { startControlPlane, stateFolder } from '../../test/cluster/control-plane/start.ts';
import { startWatchdog } from '../../test/cluster/control-plane/watchdog.ts';
import { followHistory, KEEPS_JSON } from '../../test/cluster/support/etcd-history.ts';
import { MountedSecret } from '../../test/cluster/support/mounted-secret.ts';
import { policiesInForce } from '../../test/cluster/support/policies-in-force.ts';
import { NAMESPACE, register } from '../../test/cluster/support/registered-muster.ts';
import { Random } from '../../test/support/random.ts';
import { commitName, machineName } from '../measure/machine.ts';
import { startBalancer, type Slot } from './balancer.ts';
import { Certificates } from './certificates.ts';
import { disturb, type Disturbed } from './disturbances.ts';
import { excusesAfterMs, type Done } from './failures.ts';
import { install, trust } from './installation.ts';
import { startNodes } from './kwok.ts';
import { Ledger } from './ledger.ts';
import { MOST_IN_FLIGHT, remove, startLoad } from './load.ts';
import type { SoakOptions } from './options.ts';
import { Replicas } from './replicas.ts';
import type { Event, SoakResults } from './results.ts';
import { Samples } from './samples.ts';
import { scheduleOf } from './schedule.ts';

const REPLICAS = 3;
const HERE = resolve(import.meta.dirname, '../..');
/** Clients of an overload. */
const CROWD = 64;
const TELL_MS = 10_000;
/** Gangs that are not over this long after the last one was created are stuck (ms). */
const EMPTY_WITHIN_MS = 300_000;
/** Some of what a goal found. */
const EXAMPLES = 20;

/** What a run needs beside the control plane. */
export interface SoakTools {
  readonly haproxy: string;
  readonly kwok: string;
}

export async function soak(
  options: SoakOptions,
  { haproxy, kwok }: SoakTools,
  elsewhere: number,
  say: (line: string) => void,
): Promise<SoakResults> {
  const { seed, rate, nodes, seconds, other } = options;
  const commit = commitName();
  const dir = await mkdtemp(join(stateFolder(), 'muster-soak-'));
  const watchdog = startWatchdog(options.logs === undefined ? dir : undefined);
  const logs = resolve(options.logs ?? dir);
  const ends: (() => unknown)[] = [() => rm(dir, { recursive: true, force: true }), () => watchdog.dismiss()];
  try {
    const plane = await startControlPlane({
      scheduler: true,
      controllerManager: true,
      extraApiServerArgs: KEEPS_JSON,
      dir: join(logs, 'control-plane'),
    });
    ends.push(() => plane.stop());
    const clientOf = async (sockets: number): Promise<Client> => {
      const client = await createClient(plane.kubeconfig, sockets);
      ends.push(() => client.close());
      return client;
    };
    const [port = 0, ...free] = await freePorts(1 + 3 * (REPLICAS + 1));
    const slots: Slot[] = Array.from({ length: REPLICAS + 1 }, (_, index) => {
      const [webhooks = 0, health = 0, metrics = 0] = free.slice(3 * index);
      return { webhooks, health, metrics };
    });
    let root = HERE;
    const bundleOf = (bundle: string) => ({ root, port, bundle });
    const secret = new MountedSecret(await mkdtemp(join(dir, 'certificates-')));
    const certificates = new Certificates(secret, (bundle) => trust(plane.client, bundleOf(bundle)));
    await certificates.begin();
    const replicas = new Replicas({
      ...{ slots, watchdog, dir: logs, certificates: secret.path },
      kubeconfig: await plane.kubeconfigFor(MUSTER_USER),
    });
    ends.push(() => replicas.stop());
    const bring = async (checkout: string): Promise<void> => {
      root = checkout;
      await install(plane.client, bundleOf(certificates.bundle));
    };
    say(`${nodes} nodes, three replicas behind a balancer, manifests of this checkout`);
    const balancer = await startBalancer({ path: haproxy, port, slots, dir: logs, watchdog });
    ends.push(() => balancer.stop());
    // Before the webhooks: replicas start in a cluster that has the definitions and the account.
    await bring(HERE).catch((error: unknown) => {
      throw new Error('the manifests could not be brought', { cause: error });
    });
    for (let count = 0; count < REPLICAS; count += 1) await replicas.start(HERE);
    await register(plane, port, certificates.bundle);
    await policiesInForce(plane.client);
    const fleet = await startNodes(plane, { kwok, nodes, dir: logs, watchdog });
    ends.push(() => fleet.stop(0));

    const owner = await clientOf(32);
    const following = new AbortController();
    const ledger = new Ledger(
      (gang) => void load.settled(gang).then(() => remove(owner, gang, following.signal)),
    );
    const history = await followHistory(
      plane.etcdUrl,
      NAMESPACE,
      (version) => ledger.take(version, performance.now()),
      following.signal,
    );
    let broken: unknown;
    history.ended.catch((error: unknown) => (broken = error));
    ends.push(() => following.abort());

    const samples = new Samples(ledger, () => replicas.all().map(({ process }) => process.pid));
    ends.push(() => samples.stop());
    const telling = setInterval(() => say(samples.recently()), TELL_MS);
    ends.push(() => clearInterval(telling));
    const load = startLoad({
      client: await clientOf(MOST_IN_FLIGHT),
      rate,
      seed,
      attempted: (attempt) => samples.take(attempt),
    });
    const on: Disturbed = {
      ...{ plane, replicas, slots, balancer, certificates, other, here: HERE, install: bring },
      ...{ crowd: await clientOf(CROWD), crowdSize: CROWD, overloadSeconds: options.overloadSeconds },
      random: new Random(seed),
      overloaded: new Map(),
    };

    const done: Done[] = [];
    const events: Event[] = [];
    const unfinished: string[] = [];
    for (const { at, kind } of scheduleOf(seed, seconds, options.counts)) {
      await delay(Math.max(0, (at - samples.at()) * 1000));
      const begun = performance.now();
      const note = await disturb(kind, on).catch((error: unknown) => {
        unfinished.push(`${kind} at ${at} s: ${error instanceof Error ? error.message : String(error)}`);
        return 'it did not come to its end';
      });
      const ended = performance.now();
      done.push({ kind, begun, ended });
      events.push({ kind, begun: tenth(samples.at(begun)), ended: tenth(samples.at(ended)), note });
      say(`${samples.at(begun).toFixed(0)} s: ${kind}, ${((ended - begun) / 1000).toFixed(1)} s: ${note}`);
      await delay(excusesAfterMs(kind));
    }
    await delay(Math.max(0, (seconds - samples.at()) * 1000));
    if (fleet.ended() !== undefined) unfinished.push(`kwok: ${fleet.ended()}, see ${fleet.logFile}`);
    const length = samples.at();
    await load.stop();
    const stopped = performance.now();
    say(`${length.toFixed(0)} s: no more gangs; until all of them are over ...`);
    while (ledger.stuck().length > 0 && performance.now() - stopped < EMPTY_WITHIN_MS) await delay(250);
    const emptyAfter = tenth((performance.now() - stopped) / 1000);
    samples.stop();
    if (broken !== undefined) throw new Error('the record of etcd ended too early', { cause: broken });

    const early = ledger.early();
    const goal = (name: string, found: readonly string[]) => ({
      name,
      found: found.length,
      examples: found.slice(0, EXAMPLES),
    });
    const { gangs, pods } = load.created();
    return {
      date: new Date().toISOString(),
      commit,
      node: process.versions.node,
      kubernetes: plane.version,
      machine: machineName(),
      elsewhere: Number(elsewhere.toFixed(2)),
      ...{ seed, rate, nodes, gangs, pods, emptyAfter, events },
      seconds: Math.round(length),
      ...(other !== undefined && { other: commitName(other) }),
      podsEnded: ledger.podsEnded,
      gangsReleased: ledger.released,
      overall: samples.overall(),
      memoryMost: samples.memoryMost(),
      overloaded: Object.fromEntries(on.overloaded),
      goals: [
        goal('Pods without their gate before their gang was complete and Initialized', early.ungated),
        goal('Pods bound before their gang was released whole', early.bound),
        goal(
          'other writes that broke a rule (Initialized taken back, references or others’ fields lost)',
          early.other,
        ),
        goal('gangs stuck in the end', ledger.stuck()),
        goal('creations that failed and nothing excuses', samples.inexcusable(done)),
        goal('disturbances that did not come to their end', unfinished),
      ],
      failures: samples.causes(done),
      ...samples.inBuckets(done),
    };
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

const tenth = (value: number): number => Math.round(value * 10) / 10;
