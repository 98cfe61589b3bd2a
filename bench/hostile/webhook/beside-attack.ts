import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startServer } from '../../admission/servers.ts';
import { quantile } from '../../measure/interval.ts';
import { peakRssMiBOf } from '../../measure/process-usage.ts';
import type { Beside, HostileSetting, HostileTiming, Scenario, Waits } from '../scenario.ts';
import type { Attack } from './attack.ts';
import { Helper } from '../helper.ts';
import type { Job, Report } from './messages.ts';

/** A good client’s reviews beside an attack on the webhook port. */
export const besideAttack = (attack: Attack): Scenario => ({
  ...{ id: attack.id, title: attack.title },
  measure: (timing, setting) => measure(attack, timing, setting),
});

async function measure(attack: Attack, timing: HostileTiming, setting: HostileSetting): Promise<Beside> {
  const { scratch, placement, against } = setting;
  const server = await startServer('muster', scratch, { placement, ...(against && { build: against }) });
  const job: Job = { port: server.port, caFile: scratch.caFile, attack: attack.id };
  const client = new Helper(program('good-client.ts'), placement.onClientCore, job);
  // It gives way to the good client, with which it shares a core: what is measured is the server.
  const attacker = new Helper(program('attacker.ts'), [...placement.onClientCore, 'nice', '-n', '19'], job);
  const failed: string[] = [];
  const rounds: { calm: Waits; attacked: Waits }[] = [];
  let came = '';
  const turn = async (): Promise<Waits & { failed: readonly string[] }> => {
    await delay(timing.settleMs);
    const { waits, failed: why } = await client.ask<Report>({ ms: timing.roundMs });
    return { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), failed: why };
  };
  const besides = async (): Promise<Waits> => {
    await attacker.ask('begin');
    const waits = await turn();
    failed.push(...waits.failed);
    came = await attacker.ask<string>('end');
    return waits;
  };
  try {
    await client.ask({ ms: timing.roundMs }); // warms both up
    for (let round = 0; round < timing.rounds; round += 1) {
      const first = round % 2 === 0 ? await turn() : undefined;
      const attacked = await besides();
      rounds.push({ calm: first ?? (await turn()), attacked });
    }
    const [why] = failed;
    const peakMiB = peakRssMiBOf(server.pid);
    return { rounds, failed: failed.length, peakMiB, attack: why === undefined ? came : `${came}; ${why}` };
  } finally {
    client.stop();
    attacker.stop();
    await server.stop();
  }
}

const program = (name: string): string => join(import.meta.dirname, name);
