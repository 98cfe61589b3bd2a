import { afterEach, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import { gangPod, pod } from '../../support/pods.ts';
import { podGang } from '../../support/pod-gangs.ts';
import { review, type RequestParts } from '../../support/reviews.ts';
import {
  MUTATE_POD,
  VALIDATE_GANG,
  VALIDATE_POD,
  golden,
  goldenText,
  goldenWith,
  reviewText,
} from './bodies.ts';
import { closeAll, start, until, type Running } from './running.ts';

afterEach(closeAll);

const SECRET = 'hunter2-never-log-this';
/** An object with a secret in every corner that is nobody's business. */
const secretive = (parts: RequestParts = {}): JsonObject =>
  golden({
    object: gangPod({
      annotations: { note: SECRET },
      labels: { app: SECRET },
      spec: { containers: [{ name: 'main', image: 'x', env: [{ name: 'PASSWORD', value: SECRET }] }] },
    }),
    ...parts,
  });

const decisionsOf = (running: Running): Record<string, unknown>[] =>
  running.lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === 'decided');

describe('the log', () => {
  test('begins with what serves: version, commit and its time', async () => {
    const { lines } = await start();
    const serving = lines.map((line) => JSON.parse(line) as object).filter((line) => 'webhooks' in line);
    expect(serving).toEqual([
      expect.objectContaining({
        msg: 'serving',
        version: '0.0.0-test',
        commit: '0123abc',
        commitDate: '2026-01-02T03:04:05Z',
      }),
    ]);
  });

  test('one line per decision, with all that is needed to find the Pod again', async () => {
    const running = await start();
    await running.alive();
    await running.post(MUTATE_POD, reviewText(golden({ object: pod(), dryRun: true })));
    await running.post(VALIDATE_POD, reviewText(golden({ object: gangPod(), username: 'bob' })));
    await running.post(VALIDATE_GANG, reviewText(review('PodGang', { object: podGang() })));
    const common = {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      msg: 'decided',
      uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
      operation: 'CREATE',
      kind: 'Pod',
      namespace: 'ml',
      name: 'worker-0',
      user: 'alice',
      allowed: true,
      ms: expect.any(Number),
    };
    const gang = { backend: 'default-scheduler', gang: 'ml/train' };
    expect(decisionsOf(running)).toEqual([
      { ...common, ...gang, operations: expect.any(Number) },
      { ...common, operations: 0, dryRun: true },
      { ...common, ...gang, user: 'bob', allowed: false, rules: ['GateMissing'], operations: 0 },
      { ...common, ...gang, kind: 'PodGang', name: 'train', operations: 0, warnings: 1 },
    ]);
    expect(decisionsOf(running)[0]?.['operations']).toBeGreaterThan(0);
  });

  test('never the object, whatever became of the review', async () => {
    const running = await start();
    const text = reviewText(secretive());
    const denied = gangPod({ annotations: { note: SECRET }, spec: { nodeName: 'n', hostname: SECRET } });
    await running.post(MUTATE_POD, text);
    await running.post(VALIDATE_POD, text);
    await running.post(MUTATE_POD, reviewText(golden({ object: denied })));
    await running.post(
      MUTATE_POD,
      reviewText(goldenWith({ uid: '', object: { metadata: { note: SECRET } } })),
    );
    // Broken just beside the secret: a parser likes to quote what it stumbled over.
    for (const broken of [`${SECRET}"x`, `${SECRET}\n`, `${SECRET}\\q`, `${SECRET}" "`]) {
      await running.post(MUTATE_POD, text.replace(SECRET, broken));
      await running.post(MUTATE_POD, broken);
    }
    await running.post(MUTATE_POD, text.slice(0, text.indexOf(SECRET) + SECRET.length));
    expect(running.lines.length).toBeGreaterThan(10);
    for (const part of [SECRET, SECRET.slice(0, 7), SECRET.slice(-7)]) {
      expect(running.lines.filter((line) => line.includes(part))).toEqual([]);
    }
  });

  test('a failure to decide is one line with code and reason', async () => {
    const running = await start();
    await running.post(MUTATE_POD, '{}');
    const lines = running.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.filter(({ msg }) => msg === 'not decided')).toEqual([
      expect.objectContaining({ level: 'info', code: 400, path: MUTATE_POD, reason: expect.any(String) }),
    ]);
    expect(decisionsOf(running)).toEqual([]);
  });

  const EVIL = 'a\nb\u001b[31m\u202ec\u0085d\u2028e';
  const hostile: [string, JsonObject][] = [
    ['user', golden({ username: EVIL })],
    ['uid', goldenWith({ uid: EVIL })],
    ['uid of what is no review', goldenWith({ uid: EVIL, object: { metadata: [] } })],
    ['uid on the wrong path', goldenWith({ uid: EVIL, kind: { group: '', version: 'v1', kind: EVIL } })],
    ['namespace', golden({ namespace: EVIL })],
    ['name', goldenWith({ name: EVIL })],
    ['gang', golden({ object: gangPod({ labels: { 'grove.io/podgang': EVIL } }) })],
    [
      'subresource and its kind',
      goldenWith({ subResource: EVIL, kind: { group: EVIL, version: 'v1', kind: EVIL } }),
    ],
  ];
  test.each(hostile)('control and bidi characters in the %s are escaped', async (_, value) => {
    for (const logFormat of ['json', 'text'] as const) {
      const running = await start({ logFormat });
      const before = running.lines.length;
      await running.post(`${MUTATE_POD}?${encodeURIComponent(EVIL)}`, reviewText(value));
      await until('it is logged', () => running.lines.length > before);
      expect(running.lines).toHaveLength(before + 1);
      expect(running.lines.at(-1)).not.toMatch(
        /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/,
      );
      if (logFormat === 'json')
        expect(JSON.stringify(JSON.parse(running.lines.at(-1) ?? ''))).not.toMatch(/\\n|\\u001b/);
    }
  });

  test('text is for people: time, level, message, fields on one line', async () => {
    const running = await start({ logFormat: 'text' });
    await running.post(MUTATE_POD, goldenText);
    await until('it is logged', () => running.lines.some((line) => line.includes('decided')));
    const decided = running.lines.filter((line) => line.includes('decided'));
    expect(decided).toHaveLength(1);
    expect(decided[0]).toMatch(
      /^\[.*\] INFO: decided \{.*"namespace":"ml","name":"worker-0".*"allowed":true/,
    );
  });
});
