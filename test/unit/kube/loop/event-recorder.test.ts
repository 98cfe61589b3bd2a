import { describe, expect, test } from '@jest/globals';
import {
  EventRecorder,
  type EventDetails,
  type Regarding,
} from '../../../../src/kube/loop/event-recorder.ts';
import type { KubeClient } from '../../../../src/kube/client/client.ts';
import { ApiError } from '../../../../src/kube/client/errors.ts';
import { PODS, type KubeObject } from '../../../../src/kube/client/resources.ts';
import { FakeClock } from './fake-clock.ts';

const pod = (name = 'rower-1'): Regarding => ({
  resource: PODS,
  namespace: 'crew',
  name,
  uid: `uid-${name}`,
});
const waiting: EventDetails = { type: 'Normal', reason: 'WaitingForPods', note: 'rowers: 2 of 3 Pods' };

interface Written {
  readonly created: (KubeObject & Record<string, unknown>)[];
  readonly patched: unknown[];
  readonly dropped: string[];
}

function recorder(answer: () => Promise<void> = () => Promise.resolve(), busy = (): boolean => false) {
  const clock = new FakeClock();
  const written: Written = { created: [], patched: [], dropped: [] };
  const client: Pick<KubeClient, 'create' | 'mergePatch'> = {
    create: async <T>(_: unknown, object: KubeObject) => {
      await answer();
      written.created.push(object as Written['created'][0]);
      return object as T;
    },
    mergePatch: async <T>(target: unknown, patch: object) => {
      await answer();
      written.patched.push({ target, patch });
      return patch as T;
    },
  };
  const recorder = new EventRecorder({
    client: client as KubeClient,
    controller: 'muster.dev/loop',
    instance: 'muster-0',
    clock,
    busy,
    rate: { qps: 1, burst: 5 },
    observer: { dropped: (why) => written.dropped.push(why) },
  });
  return { clock, written, recorder };
}

describe('the event recorder', () => {
  test.each(['-', '.', '.-'])('makes a valid name of one that is long and cut behind %p', async (end) => {
    const { clock, written, recorder: events } = recorder();
    events.event(pod(`${'p'.repeat(230 - end.length)}${end}${'q'.repeat(23)}`), waiting);
    await clock.pass(0);
    const name = written.created[0]?.metadata.name ?? '';
    expect(name).toMatch(/^p+\.[0-9a-f]{16}$/);
    expect(name.length).toBeLessThanOrEqual(253);
  });

  test('writes an Event of events.k8s.io/v1', async () => {
    const { clock, written, recorder: events } = recorder();
    events.event(pod(), waiting);
    await clock.pass(0);
    const [event] = written.created;
    expect(event?.metadata.name).toMatch(/^rower-1\.[0-9a-f]{16}$/);
    expect(event).toEqual({
      metadata: { namespace: 'crew', name: event?.metadata.name },
      eventTime: expect.stringMatching(/^2026-01-01T00:00:01\.000000Z$/) as unknown,
      type: 'Normal',
      reason: 'WaitingForPods',
      action: 'WaitingForPods',
      note: 'rowers: 2 of 3 Pods',
      reportingController: 'muster.dev/loop',
      reportingInstance: 'muster-0',
      regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'crew', name: 'rower-1', uid: 'uid-rower-1' },
    });
  });

  test('says the same once, then counts it, at most once a minute', async () => {
    const { clock, written, recorder: events } = recorder();
    for (let n = 0; n < 10; n += 1) {
      events.event(pod(), waiting);
      await clock.pass(10_000);
    }
    expect(written.created).toHaveLength(1);
    expect(written.patched).toEqual([
      {
        target: expect.objectContaining({
          namespace: 'crew',
          name: written.created[0]?.metadata.name,
        }) as unknown,
        patch: { series: { count: 7, lastObservedTime: '2026-01-01T00:01:01.000000Z' } },
      },
    ]);
    events.event(pod(), { ...waiting, note: 'rowers: 3 of 3 Pods' });
    events.event(pod('rower-2'), waiting);
    await clock.pass(11 * 60_000);
    expect(written.created).toHaveLength(3);
    events.event(pod(), waiting);
    await clock.pass(0);
    expect(written.created).toHaveLength(4);
  });

  test('keeps to its rate: what is more waits', async () => {
    const { clock, written, recorder: events } = recorder();
    for (let n = 0; n < 8; n += 1) events.event(pod(`rower-${n}`), waiting);
    await clock.pass(0);
    expect(written.created).toHaveLength(5);
    await clock.pass(2_000);
    expect(written.created).toHaveLength(7);
    await clock.pass(1_000);
    expect([written.created.length, written.dropped]).toEqual([8, []]);
  });

  test('a namespace that says too much loses its own Events, and makes another wait for one turn', async () => {
    const { clock, written, recorder: events } = recorder();
    const of = (namespace: string, name: string): Regarding => ({
      ...pod(name),
      namespace,
      uid: `${namespace}/${name}`,
    });
    for (let n = 0; n < 5_000; n += 1) events.event(of('flood', `rower-${n}`), waiting);
    events.event(of('good', 'a'), waiting);
    events.event(of('good', 'b'), waiting);
    await clock.pass(0);
    const told = (): string[] =>
      written.created
        .filter(({ metadata }) => metadata.namespace === 'good')
        .map(({ metadata }) => metadata.name);
    expect(told()).toHaveLength(2);
    expect(written.created).toHaveLength(5);
    expect(written.dropped).toEqual(Array.from({ length: 4_750 }, () => 'queue full'));
  });

  test('never fails: an Event that cannot be written is dropped, and new when it comes up again', async () => {
    let refuses = true;
    const {
      clock,
      written,
      recorder: events,
    } = recorder(() =>
      refuses ? Promise.reject(new ApiError('create', { status: 403, message: 'no' })) : Promise.resolve(),
    );
    events.event(pod(), waiting);
    await clock.pass(0);
    expect(written.dropped).toEqual(['failed']);
    refuses = false;
    events.event(pod(), waiting);
    await clock.pass(0);
    expect(written.created).toHaveLength(1);
  });

  test('starts anew when the API server has forgotten the Event', async () => {
    let gone = false;
    const {
      clock,
      written,
      recorder: events,
    } = recorder(() =>
      gone ? Promise.reject(new ApiError('patch', { status: 404, message: 'gone' })) : Promise.resolve(),
    );
    events.event(pod(), waiting);
    await clock.pass(61_000);
    gone = true;
    events.event(pod(), waiting);
    await clock.pass(0);
    gone = false;
    events.event(pod(), waiting);
    await clock.pass(0);
    expect([written.created.length, written.patched.length]).toEqual([2, 0]);
  });

  test('keeps notes printable and within 1024 bytes', async () => {
    const { clock, written, recorder: events } = recorder();
    events.event(pod(), { ...waiting, note: `a\u001b[31mb${'☂'.repeat(2_000)}` });
    await clock.pass(0);
    const note = String(written.created[0]?.['note']);
    expect(note).toMatch(/^a\\u\{1b\}\[31mb☂+…$/u);
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024);
    expect(Buffer.byteLength(note)).toBeGreaterThan(1018);
  });

  test('stop: sends what waits, takes nothing more, and does not wait for ever', async () => {
    const { clock, written, recorder: events } = recorder();
    events.event(pod(), waiting);
    const stopping = events.stop();
    events.event(pod('late'), waiting);
    await clock.pass(0);
    await stopping;
    expect(written.created).toHaveLength(1);

    const stuck = recorder(() => new Promise(() => undefined));
    stuck.recorder.event(pod(), waiting);
    let over = false;
    void stuck.recorder.stop(500).then(() => (over = true));
    await stuck.clock.pass(499);
    expect(over).toBe(false);
    await stuck.clock.pass(1);
    expect(over).toBe(true);
  });

  test('gives way to the loop, but not for ever', async () => {
    let busy = true;
    const { clock, written, recorder: events } = recorder(undefined, () => busy);
    events.event(pod(), waiting);
    await clock.pass(9_900);
    expect(written.created).toEqual([]);
    await clock.pass(200);
    expect(written.created).toHaveLength(1);
    events.event(pod('rower-2'), waiting);
    await clock.pass(100);
    expect(written.created).toHaveLength(1);
    busy = false;
    await clock.pass(50);
    expect(written.created).toHaveLength(2);
    // Nor at the end, when there is a moment left to send what waits.
    busy = true;
    events.event(pod('rower-3'), waiting);
    const stopped = events.stop();
    await clock.pass(100);
    await stopped;
    expect(written.created).toHaveLength(3);
  });
});
