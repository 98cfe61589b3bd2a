/** What a module does in the real program: others are served all the while, its own wait. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PATH_MUTATE_POD, PATH_VALIDATE_POD_GANG } from '../../../src/api/names.ts';
import { ownString, type JsonObject } from '../../../src/json/json.ts';
import { gangPod } from '../../support/pods.ts';
import { podGang } from '../../support/pod-gangs.ts';
import { review } from '../../support/reviews.ts';
import { startServing, type Serving } from '../../support/serving.ts';
import { moduleText } from '../modules/hosting.ts';
import { until } from '../server/running.ts';
import { Wire, httpRequest } from '../server/wire.ts';

/** Without an end, and at work when that is found out after five seconds: until then it spares the processor. */
const FOR_EVER =
  'for (let rests = 45; ; rests -= 1) if (rests > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);';
const PARTS = `
  validatePodGang: ({ name }) => ({ faults: [], warnings: ['seen ' + name] }),
  warnOfUpdate: () => ['a change is for later'],
  preparePod: (pod, _gang, patch) => {
    if (pod.label('do') === 'loop') { console.log('looping'); ${FOR_EVER} }
    if (pod.label('do') === 'refuse') throw new PodRefused('spec.x', 'no such queue');
    patch.setSchedulerName('mine-for-pods', 'asked for');
  },`;
const FILES: Readonly<Record<string, string>> = {
  'mine.mjs': moduleText(PARTS, "console.log('begun');"),
  'looping.mjs': FOR_EVER,
  'throwing.mjs': "throw new Error('no licence found');",
  'not-beginning.mjs': moduleText(
    "init: () => { throw new Error('the engine does not start'); },",
  ).replaceAll("'mine'", "'not-beginning'"),
};

let serving: Serving;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-serve-modules-'));
  for (const [file, text] of Object.entries(FILES)) await writeFile(join(folder, file), text);
  const brought = Object.keys(FILES).map((file) => ({
    name: file.replace('.mjs', ''),
    module: join(folder, file),
  }));
  serving = await startServing({
    settings: {
      scheduler: {
        profiles: [{ name: 'default-scheduler' }, ...brought],
        defaultProfileName: 'default-scheduler',
      },
    },
  });
});
afterAll(async () => {
  await serving?.close();
  await rm(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function answerTo(path: string, body: JsonObject): Promise<Answer> {
  const wire = await Wire.open(serving.port);
  const { status, body: text } = await wire.send(httpRequest(path, JSON.stringify(body))).answer();
  wire.destroy();
  return { status, text: String(text) };
}

const prepared = (backend: string, labels: JsonObject = {}): Promise<Answer> => {
  const object = gangPod({ labels: { 'grove.io/scheduler-name': backend, ...labels } });
  return answerTo(PATH_MUTATE_POD, review('Pod', { object }));
};
/** As an API server asks that is told to come again: whether a module answers within two seconds is the machine's to say. */
async function decided(ask: () => Promise<Answer>): Promise<Answer> {
  let answer: Answer | undefined;
  await until('it is decided', async () => (answer = await ask()).status !== 503);
  return answer as Answer;
}
const logged = (msg: string) => serving.log().filter((line) => ownString(line, 'msg') === msg);
const patchOf = ({ text }: Answer): string => {
  const found = /"patch":"([^"]*)"/.exec(text)?.[1];
  return Buffer.from(found ?? '', 'base64').toString();
};

test('it serves though modules loop and throw at their start, and says what became of them', async () => {
  const ready = `http://127.0.0.1:${serving.healthPort}/readyz`;
  await until('it is ready', async () => (await fetch(ready)).status === 200);
  expect(await prepared('default-scheduler')).toMatchObject({ status: 200 });
  expect(patchOf(await decided(() => prepared('mine')))).toContain('mine-for-pods');
  await until('all have been heard of', () => logged('backend not ready').length >= 3, 60_000);
  const reasons = Object.fromEntries(
    logged('backend not ready').map((line) => [line['backend'], line['reason']]),
  );
  expect(reasons).toMatchObject({
    // On a busy machine its time to load ends first.
    looping: expect.stringMatching(
      /^it (was at work for 5 s and let nothing else run: a loop without an end|did not answer within 8 s)$/,
    ),
    throwing: expect.stringContaining('does not load: no licence found'),
    'not-beginning': 'the engine does not start',
  });
  expect(logged('backend initialized')).toContainEqual(expect.objectContaining({ backend: 'mine' }));
  await until('what it wrote is logged', () =>
    logged('a backend module wrote').some(({ backend, text }) => backend === 'mine' && text === 'begun'),
  );
  const later = await prepared('throwing');
  expect(later).toMatchObject({ status: 503, text: expect.stringContaining('no licence found') });
});

test('what it says of Pods and gangs is said', async () => {
  expect((await decided(() => prepared('mine', { do: 'refuse' }))).text).toContain('mine: no such queue');
  const gang = (parts: Parameters<typeof podGang>[0] = {}) =>
    podGang({ labels: { 'grove.io/scheduler-name': 'mine' }, ...parts });
  const judged = (parts: Parameters<typeof review>[1]): Promise<Answer> =>
    decided(() => answerTo(PATH_VALIDATE_POD_GANG, review('PodGang', parts)));
  const created = await judged({ object: gang() });
  expect(created.text).toContain('"warnings":["seen ');
  const changed = await judged({ object: gang({ annotations: { a: 'b' } }), oldObject: gang() });
  expect(changed.text).toContain('a change is for later');
});

test('a Pod that makes it loop keeps its own waiting, and nobody else’s', async () => {
  await until('it has begun', async () => (await prepared('mine')).status === 200);
  const looping = prepared('mine', { do: 'loop' });
  await until('it loops', () => logged('a backend module wrote').some(({ text }) => text === 'looping'));
  const beside = prepared('mine');
  for (let count = 0; count < 20; count += 1) expect((await prepared('default-scheduler')).status).toBe(200);
  expect(await looping).toMatchObject({
    status: 503,
    text: expect.stringContaining('did not answer within 2 s'),
  });
  expect((await beside).status).toBe(503);
  await until('it is ended', () =>
    logged('a backend module has ended, and its gangs wait').some(({ backend }) => backend === 'mine'),
  );
  const metadataOnly = review('PodGang', {
    object: podGang({ labels: { 'grove.io/scheduler-name': 'mine' }, annotations: { a: 'b' } }),
    oldObject: podGang({ labels: { 'grove.io/scheduler-name': 'mine' } }),
  });
  expect((await answerTo(PATH_VALIDATE_POD_GANG, metadataOnly)).text).toContain('"allowed":true');
  await until('it is as good as new', async () => (await prepared('mine')).status === 200, 60_000);
}, 120_000);

test('a scheduler that nobody serves may be that of a module which has not come to say so', async () => {
  const object = gangPod({ spec: { schedulerName: 'whose' } });
  const answer = await answerTo(PATH_MUTATE_POD, review('Pod', { object }));
  expect(answer).toMatchObject({
    status: 503,
    text: expect.stringContaining('has not said which scheduler it is for'),
  });
  // One that has said so is found by it.
  const named = gangPod({ spec: { schedulerName: 'mine-for-pods' } });
  const found = await decided(() => answerTo(PATH_MUTATE_POD, review('Pod', { object: named })));
  expect(found.status).toBe(200);
});
