/**
 * `node monitoring/recording/record.ts` runs Muster for some minutes on a real API server and scheduler, with load and
 * failures, lets a real Prometheus read its metrics, and writes what the dashboard shows of it to recorded.json, from
 * which docs/pictures/dashboard.svg is drawn. It needs Debian's package prometheus and takes ten minutes.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Panel, RowPanel } from '@grafana/schema';
import { MUSTER_USER } from '../../src/api/names.ts';
import { freePorts } from '../../test/cluster/control-plane/ports.ts';
import { readKubeconfig } from '../../test/cluster/control-plane/kubeconfig.ts';
import { startFaultProxy } from '../../test/cluster/support/fault-proxy.ts';
import { loopbackService } from '../../test/cluster/support/loopback-service.ts';
import { startLoopingReplica } from '../../test/cluster/support/looping-muster.ts';
import { register } from '../../test/cluster/support/registered-muster.ts';
import { DEFAULT_LEASE, untilReady, withMuster } from '../../test/cluster/support/with-muster.ts';
import { writeCertificates, type Serving } from '../../test/support/serving.ts';
import { musterDashboard } from '../grafana.ts';
import { streamOfGangs } from './gangs.ts';
import { startPrometheus } from './prometheus.ts';
import type { Recorded, RecordedEvent } from './recorded.ts';

const SCRAPE_SECONDS = 5;
/** Of the picture, whose panels are some hundred points wide. */
const STEP_SECONDS = 10;
const LIFE_SECONDS = 40;
const GANGS_PER_SECOND = 1;
const SETTINGS = {
  scheduler: { profiles: [{ name: 'default-scheduler' }], defaultProfileName: 'default-scheduler' },
  ...DEFAULT_LEASE,
};
const FOLDER = import.meta.dirname;

const on = await withMuster({ muster: 'none', plane: { scheduler: true }, cpu: 1_000 });
const { plane } = on;
await writeCertificates(on.certificates.path, 90);
const ca = await readFile(join(on.certificates.path, 'ca.crt'), 'utf8');
const folder = await mkdtemp(join(tmpdir(), 'muster-recording-'));
on.before(() => rm(folder, { recursive: true, force: true }));
try {
  for (let node = 2; node <= 20; node += 1) await plane.addNode(`node-${node}`);
  const proxy = await startFaultProxy(
    await readKubeconfig(await plane.kubeconfigFor(MUSTER_USER)),
    folder,
    'proxy',
  );
  on.before(() => proxy.close());
  const [port = 0] = await freePorts(1);
  const prometheus = await startPrometheus(folder, port, join(FOLDER, '../rules.yaml'), SCRAPE_SECONDS);
  on.before(() => prometheus.stop());
  const service = await loopbackService();
  on.before(() => service.close());

  const replicas = new Map<string, Serving>();
  let made = 0;
  const route = async (): Promise<void> => {
    service.setEndpoints([...replicas.values()].map((replica) => replica.port));
    await prometheus.setTargets([...replicas].map(([pod, { metricsPort }]) => ({ pod, port: metricsPort })));
  };
  const add = async (): Promise<void> => {
    made += 1;
    const pod = `muster-${'abcdefgh'[made - 1]}`;
    const replica = await startLoopingReplica(plane, on.certificates.path, SETTINGS, proxy.kubeconfig);
    on.before(() => replica.close());
    await untilReady(replica);
    replicas.set(pod, replica);
    await route();
  };
  const leader = async (): Promise<string> => {
    for (const [pod, { metricsPort }] of replicas) {
      const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      if (metrics.includes('\nmuster_loop_leading 1')) return pod;
    }
    throw new Error('nobody leads');
  };
  const remove = async (pod: string, how: 'terminate' | 'kill'): Promise<void> => {
    const replica = replicas.get(pod);
    replicas.delete(pod);
    await route();
    await replica?.[how]();
  };

  for (let replica = 0; replica < 3; replica += 1) await add();
  await register(plane, service.port, ca);
  const gangs = streamOfGangs(plane.client, LIFE_SECONDS);
  on.before(() => gangs.stop());
  gangs.setRate(GANGS_PER_SECOND);
  await delay(60_000);

  const start = Math.floor(Date.now() / 1000);
  const events: RecordedEvent[] = [];
  const happens = (what: string): void => {
    events.push({ at: Math.round(Date.now() / 1000 - start), what });
    process.stderr.write(`${events.at(-1)?.at} s: ${what}\n`);
  };
  const until = (second: number): Promise<void> => delay(Math.max(0, (start + second) * 1000 - Date.now()));

  await until(90);
  happens('rollout');
  for (const pod of [...replicas.keys()]) {
    await add();
    await remove(pod, 'terminate');
  }
  await until(150);
  happens('scheduler away');
  await plane.killScheduler();
  await until(210);
  await plane.startScheduler();
  happens('scheduler back');
  await until(270);
  happens('API server slow, 1 in 10 fails');
  let asked = 0;
  proxy.setFates(({ watch }) =>
    watch ? {} : { after: delay(400), ...((asked += 1) % 10 === 0 && { fault: 'error' as const }) },
  );
  await until(330);
  proxy.setFates(undefined);
  happens('API server well');
  await until(390);
  happens('leader killed');
  await remove(await leader(), 'kill');
  await add();
  await until(450);
  happens('3 × load');
  gangs.setRate(3 * GANGS_PER_SECOND);
  await until(510);
  gangs.setRate(GANGS_PER_SECOND);
  happens('load as before');
  await until(600);

  const end = Math.floor(Date.now() / 1000);
  const lines = async (expression: string) =>
    (
      await prometheus.range(
        expression
          .replaceAll('$__rate_interval', `${4 * SCRAPE_SECONDS}s`)
          .replaceAll(/\$(cluster|namespace)\b/g, '.*'),
        start,
        end,
        STEP_SECONDS,
      )
    ).map(({ metric, values }) => ({
      metric,
      values: Array.from({ length: Math.floor((end - start) / STEP_SECONDS) + 1 }, (_, index) => {
        const found = values.find(([at]) => at === start + index * STEP_SECONDS);
        const value = Number(found?.[1] ?? NaN);
        return Number.isFinite(value) ? Number(value.toPrecision(3)) : null;
      }),
    }));
  const recorded: Recorded = {
    on: `${new Date(start * 1000).toISOString().slice(0, 10)}, Kubernetes ${plane.version}, three replicas`,
    stepSeconds: STEP_SECONDS,
    events,
    refused: Object.fromEntries(gangs.refused),
    alerts: await lines('max by (alertname, alertstate) (ALERTS)'),
    panels: {},
  };
  for (const panel of musterDashboard().panels ?? []) {
    const shown = panel.type === 'row' ? (panel as RowPanel).panels : [panel as Panel];
    for (const { title = '', targets = [] } of shown) {
      const found = [];
      for (const { expr, legendFormat } of targets)
        for (const { metric, values } of await lines(String(expr)))
          found.push({
            name: String(legendFormat).replaceAll(
              /\{\{(\w+)\}\}/g,
              (_all, label: string) => metric[label] ?? '',
            ),
            values,
          });
      recorded.panels[title] = found;
    }
  }
  await writeFile(join(FOLDER, 'recorded.json'), `${JSON.stringify(recorded)}\n`);
} finally {
  await on.close();
}
