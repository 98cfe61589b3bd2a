import { afterEach, describe, expect, test } from '@jest/globals';
import { PATH_INTERPRET } from '../../../src/api/names.ts';
import { contextOf, readAnswer } from '../../unit/fleet/karmada-client.ts';
import { deployment } from '../../unit/workloads/made-workloads.ts';
import { MUTATE_POD, goldenText } from '../server/bodies.ts';
import { expectGolden, until, valueOf } from '../server/running.ts';
import { Wire, httpRequest } from '../server/wire.ts';
import { killAll, serve, type Served } from './process.ts';

afterEach(killAll);
const request = httpRequest(MUTATE_POD, goldenText);
const readyz = async ({ ports }: Served): Promise<{ status: number; text: string }> => {
  const response = await fetch(`http://127.0.0.1:${ports.health}/readyz`);
  return { status: response.status, text: await response.text() };
};
const unready = (served: Served): Promise<void> =>
  until('it is unready', async () => {
    const { status, text } = await readyz(served);
    return status === 503 && text.includes('[-]not-draining failed');
  });

describe('V55: the process on SIGTERM', () => {
  test('V55: under load: what is in flight finishes, every later answer ends its connection, nothing is reset, exit code 0', async () => {
    const served = await serve({ seconds: 2, maxSeconds: 20 });
    const port = served.ports.webhooks;
    expect((await readyz(served)).status).toBe(200);
    let terminated = false;
    let stop = false;
    const failures: unknown[] = [];
    const counts = { before: 0, after: 0, notClosing: 0 };

    /** Like an API server: keeps a connection for as long as the server lets it, then dials again. */
    const client = async (): Promise<void> => {
      let wire: Wire | undefined;
      while (!stop) {
        try {
          wire ??= await Wire.open(port);
          const afterSignal = terminated;
          const answer = await wire.send(request).answer();
          expectGolden(answer);
          counts[afterSignal ? 'after' : 'before'] += 1;
          if (answer.headers['connection'] === 'close') {
            await wire.closed();
            if (wire.error !== undefined) throw wire.error;
            wire = undefined;
          } else if (afterSignal) counts.notClosing += 1;
        } catch (thrown) {
          failures.push(thrown);
          wire = undefined;
        }
      }
      wire?.destroy();
    };
    const idle = await Wire.open(port);
    expectGolden(await idle.send(request).answer());
    const inFlight = await Wire.open(port);
    inFlight.send(request.subarray(0, -1));
    const clients = Array.from({ length: 4 }, client);
    await until('there is load', () => counts.before > 50);

    served.child.kill('SIGTERM');
    await unready(served);
    terminated = true;
    const drainingSince = performance.now();
    await until('the load went on', () => counts.after > 20 && performance.now() - drainingSince > 1000);
    stop = true;
    await Promise.all(clients);
    expect(failures).toEqual([]);
    expect(counts.notClosing).toBe(0);

    expect(served.child.exitCode).toBeNull();
    for (const [wire, rest] of [
      [inFlight, request.subarray(-1)],
      [idle, request],
    ] as const) {
      expect(wire.ended).toBe(false);
      const answer = await wire.send(rest).answer();
      expectGolden(answer);
      expect(answer.headers['connection']).toBe('close');
      await wire.closed();
      expect(wire.error).toBeUndefined();
    }
    expect(await served.exited).toBe(0);
    expect(served.output()).toContain('"msg":"draining"');
    expect(served.output()).toContain('"msg":"drained"');
  });

  test('a second signal ends it at once', async () => {
    const served = await serve({ seconds: 60, maxSeconds: 60 });
    served.child.kill('SIGTERM');
    await unready(served);
    const started = performance.now();
    served.child.kill('SIGTERM');
    expect(await served.exited).not.toBe(0);
    expect(performance.now() - started).toBeLessThan(40_000);
  });

  test('SIGINT drains too, and Karmada’s questions are answered meanwhile as reviews are', async () => {
    const served = await serve({ seconds: 2, maxSeconds: 20 }, [], { MUSTER_FLEET_INTERPRETER: 'true' });
    const question = { operation: 'InterpretReplica', object: deployment({ replicas: 3 }) };
    const wire = await Wire.open(served.ports.webhooks);
    const ask = async (): Promise<readonly unknown[]> => {
      const { headers, body } = await wire
        .send(httpRequest(PATH_INTERPRET, JSON.stringify(contextOf('u-1', question))))
        .answer();
      return [readAnswer('u-1', question, body).replicas, headers['connection']];
    };
    expect(await ask()).toEqual([3, 'keep-alive']);
    // A review that is under way keeps it draining, however long the machine takes to ask.
    const held = await Wire.open(served.ports.webhooks);
    held.send(request.subarray(0, -1));
    await until('it is under way', async () => {
      const text = await (await fetch(`http://127.0.0.1:${served.ports.metrics}/metrics`)).text();
      return valueOf(text, 'muster_admission_in_flight') === 1;
    });
    served.child.kill('SIGINT');
    await unready(served);
    expect(await ask()).toEqual([3, 'close']);
    for (const one of [wire, held]) one.destroy();
    expect(await served.exited).toBe(0);
    expect(served.output()).toContain('"msg":"drained"');
  });
});
