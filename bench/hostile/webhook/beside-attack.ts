import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startServer } from '../../admission/servers.ts';
import { givingWay } from '../../measure/placement.ts';
import { peakRssMiBOf } from '../../measure/process-usage.ts';
import type { Beside, HostileSetting, HostileTiming, Scenario } from '../scenario.ts';
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
  const attacker = new Helper(program('attacker.ts'), [...placement.onClientCore, ...givingWay()], job);
  const failed: string[] = [];
  const calm: number[][] = [];
  const attacked: number[][] = [];
  const { rounds, roundMs } = timing.attacks;
  let came = '';
  const turn = async (): Promise<Report> => {
    await delay(timing.settleMs);
    return client.ask<Report>({ ms: roundMs });
  };
  const alone = async (): Promise<void> => void calm.push(...(await turn()).waits);
  const besides = async (): Promise<void> => {
    await attacker.ask('begin');
    const report = await turn();
    attacked.push(...report.waits);
    failed.push(...report.failed);
    came = await attacker.ask<string>('end');
  };
  try {
    await client.ask({ ms: timing.settleMs + roundMs }); // warms both up
    await attacker.ask('begin'); // and what only an attack goes through
    await turn();
    await attacker.ask('end');
    for (let round = 0; round < rounds; round += 1) {
      for (const half of round % 2 === 0 ? [alone, besides] : [besides, alone]) await half();
    }
    const [why] = failed;
    const peakMiB = peakRssMiBOf(server.pid);
    const attack = why === undefined ? came : `${came}; ${why}`;
    return { calm, attacked, failed: failed.length, peakMiB, attack };
  } finally {
    client.stop();
    attacker.stop();
    await server.stop();
  }
}

const program = (name: string): string => join(import.meta.dirname, name);
