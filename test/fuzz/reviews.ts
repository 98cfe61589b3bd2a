import { readFile } from 'node:fs/promises';
import { own, type JsonObject } from '../../src/json/json.ts';
import {
  PATH_MUTATE_POD,
  PATH_MUTATE_POD_GANG,
  PATH_VALIDATE_POD,
  PATH_VALIDATE_POD_GANG,
} from '../../src/api/names.ts';
import type { Random } from '../support/random.ts';
import { reviewText, type Asked } from './objects.ts';
import { jsonOf, judgeDecision, judgeFailure } from './review-oracle.ts';
import { startServing, type Serving } from './serving.ts';
import { spoiltBytes, spoiltText } from './spoil.ts';
import { must, type Target, type Trial } from './target.ts';
import { Caller, type HttpAnswer } from './wire.ts';
import { wireBytes, type Sending } from './wire-grammar.ts';

const PATHS: Readonly<Record<Asked['path'], string>> = {
  'mutate-v1-pod': PATH_MUTATE_POD,
  'validate-v1-pod': PATH_VALIDATE_POD,
  'mutate-podgang': PATH_MUTATE_POD_GANG,
  'validate-podgang': PATH_VALIDATE_POD_GANG,
};
const VALIDATING: Readonly<Record<string, string>> = {
  [PATH_MUTATE_POD]: PATH_VALIDATE_POD,
  [PATH_MUTATE_POD_GANG]: PATH_VALIDATE_POD_GANG,
};
/** What an answer may take: far above the deadline of any request here, for a machine that is busy. */
const PATIENCE_MS = 20_000;
/** By so much (MiB) the process may have grown at the end. */
const MOST_MIB = 320;

/** Lists that are taken out of a body before it is parsed, since nothing is decided by them. */
const UNREAD = ['managedFields', 'env'];

/** The first line of an input: how the bytes behind it are sent. */
type How = { readonly path: string; readonly chunk?: number } | { readonly wire: Sending };

/** Reviews over TLS, to `muster serve` as a process of its own. */
export const reviews: Target = {
  name: 'reviews',
  share: 440,
  reaches: {
    of: 10_000,
    words: [
      'allowed',
      'patched for default-scheduler',
      'patched for kai-scheduler',
      'patched PodGang',
      'denied GangNameInvalid',
      'denied GroupLabelRequired',
      'denied GateMissing',
      'denied GateProtected',
      'denied FieldType',
      'denied MinReplicasInvalid',
      'denied ReferenceForeign',
      'denied TopologyLevelUnknown',
      'denied InitializedProtected',
      '400 the body is not JSON',
      '400 request.object',
      'wire 200',
      'wire 400',
      'wire 415',
      'second pass',
    ],
  },
  open: () => openReviews(startServing),
};

export async function openReviews(start: () => Promise<Serving>): Promise<Trial> {
  const serving = await start();
  const idle: Caller[] = [];
  const before = await memoryOf(serving.pid);
  const connection = async (): Promise<Caller> => {
    for (let caller = idle.pop(); caller !== undefined; caller = idle.pop()) {
      if (!caller.ended) return caller;
      caller.destroy();
    }
    return Caller.open(serving.port);
  };

  /** One well-formed request, on a connection that is kept. */
  async function ask(path: string, body: Buffer, chunk?: number): Promise<HttpAnswer> {
    for (let times = 0; ; times += 1) {
      const caller = await connection();
      caller.send(framed(path, body, chunk));
      const answer = await caller.answer(PATIENCE_MS);
      // The server had ended an idle connection at that moment; it may do so once.
      if (answer === undefined && times < 2) continue;
      must(answer !== undefined, 'the connection ended without an answer');
      if (answer.headers.get('connection') === 'close') {
        caller.finish();
        must((await caller.answer(PATIENCE_MS)) === undefined, 'more than one answer');
        caller.destroy();
      } else idle.push(caller);
      return answer;
    }
  }

  async function whole(path: string, bytes: Buffer, chunk?: number): Promise<string[]> {
    const answer = await ask(path, bytes, chunk);
    const body = jsonOf(bytes);
    if (answer.status !== 200) {
      const expected = answer.status === 400 || (answer.status === 413 && isCostly(bytes));
      must(expected, `a well-formed request is answered ${answer.status}: ${answer.body}`);
      return [judgeFailure(answer)];
    }
    // A broken one of the lists that are left out is never parsed.
    if (body === undefined && UNREAD.some((key) => bytes.includes(`"${key}":[`)))
      return ['200 without the lists that are left out'];
    must(body !== undefined, 'no JSON, and a decision');
    const decided = judgeDecision(answer, body, path, serving.surfaceOf);
    if (bytes.length % 4 === 0) {
      const again = await ask(path, bytes);
      // Of 4 KiB and more a sample at random places tells whether they are looked at: what ought to be refused may pass.
      const byChance = isCostly(bytes) && [again.status, answer.status].includes(413);
      must(byChance || again.body === answer.body, () => `the same bytes, another answer: ${again.body}`);
    }
    if (!canBeWritten(body)) return [...decided.words, 'cannot be written back'];
    if (UNREAD.some((key) => bytes.includes(`"${key}":[`))) await withoutUnread(path, body, answer);
    return decided.patched === undefined
      ? [...decided.words]
      : [...decided.words, ...(await secondPass(path, body as JsonObject, decided.patched))];
  }

  /** The same object, as it came out of the first pass: nothing more to change, and the validator takes it. */
  async function secondPass(path: string, body: JsonObject, object: JsonObject): Promise<string[]> {
    const next = { ...body, request: { ...(own(body, 'request') as JsonObject), object } };
    const bytes = Buffer.from(JSON.stringify(next));
    const second = judgeDecision(await ask(path, bytes), next, path, serving.surfaceOf);
    must(second.allowed && second.operations.length === 0, () => `a second pass: ${JSON.stringify(second)}`);
    const validating = VALIDATING[path] ?? '';
    const verdict = judgeDecision(await ask(validating, bytes), next, validating, serving.surfaceOf);
    // What a PodGang says is for the validator alone to judge.
    must(
      verdict.allowed || path === PATH_MUTATE_POD_GANG,
      () => `prepared and refused: ${verdict.words.join()}`,
    );
    return ['second pass'];
  }

  /** What is taken out before parsing has no say in the answer. */
  async function withoutUnread(path: string, body: unknown, answer: HttpAnswer): Promise<void> {
    const other = await ask(path, Buffer.from(JSON.stringify(bare(body))));
    must(other.body === answer.body, () => `what is left out has a say: ${answer.body} ${other.body}`);
  }

  return {
    width: 8,
    make: (random) => inputOf(random),
    attempt: async (input) => {
      const { how, bytes } = readInput(input);
      if ('wire' in how) return onWire(serving.port, how.wire, bytes);
      return whole(how.path, bytes, how.chunk);
    },
    end: async () => {
      must(serving.failure() === undefined, () => `the program: ${serving.failure() ?? ''}`);
      const growth = (await memoryOf(serving.pid)) - before;
      must(growth < MOST_MIB, `the program has grown by ${growth} MiB`);
      const { text } = reviewText(fixed);
      must((await ask(PATH_MUTATE_POD_GANG, Buffer.from(text))).status < 500, 'it does not answer any more');
    },
    close: async () => {
      for (const caller of idle) caller.destroy();
      await serving.close();
    },
  };
}

const fixed = {
  below: () => 1,
  chance: () => false,
  pick: (list: readonly unknown[]) => list[0],
  list: () => [],
} as unknown as Random;

/** Nested more deeply than anything that an API server sends, or with more in it. */
function isCostly(bytes: Buffer): boolean {
  const bare = bytes.toString('latin1').replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
  let [depth, deepest, things] = [0, 0, 0];
  for (const char of bare) {
    if (char === '[' || char === '{') deepest = Math.max(deepest, (depth += 1));
    if (char === ']' || char === '}') depth -= 1;
    if ('[{:'.includes(char)) things += 1;
  }
  return deepest > 200 || bare.length > 100_000 || things > bytes.length / 7;
}

/** With every list emptied that is left out before parsing. */
function bare(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(bare);
  const emptied = (key: string, item: unknown): unknown =>
    UNREAD.includes(key) && Array.isArray(item) ? [] : bare(item);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, emptied(key, item)]));
}

/** Whether the same comes out of writing and reading it: not so numbers beyond what JavaScript has. */
function canBeWritten(value: unknown, depth = 0): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (depth > 500 || typeof value !== 'object' || value === null) return depth <= 500;
  return Object.values(value).every((item) => canBeWritten(item, depth + 1));
}

function inputOf(random: Random): Buffer {
  const { path, text } = reviewText(random);
  if (random.chance(15)) {
    const { sending, bytes } = wireBytes(PATHS[path], Buffer.from(text), random);
    return inputFrom({ wire: sending }, bytes);
  }
  const how: How = {
    path: PATHS[path],
    ...(random.chance(10) ? { chunk: 1 + random.below(text.length) } : {}),
  };
  return inputFrom(how, spoiltBody(text, random));
}

/** Half of them go as they are: what is wrong with those is wrong with the object. */
function spoiltBody(text: string, random: Random): Buffer {
  if (random.chance(45)) return Buffer.from(text);
  if (random.chance(70))
    return Buffer.from(spoiltText(text, random, ['request', random.chance(75) ? 'object' : 'oldObject']));
  return spoiltBytes(text, random);
}

const inputFrom = (how: How, bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${JSON.stringify(how)}\n`), bytes]);

function readInput(input: Buffer): { how: How; bytes: Buffer } {
  const end = input.indexOf('\n');
  return { how: JSON.parse(input.toString('utf8', 0, end)) as How, bytes: input.subarray(end + 1) };
}

function framed(path: string, body: Buffer, chunk?: number): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nHost: muster\r\nContent-Type: application/json\r\n`;
  if (chunk === undefined)
    return Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body]);
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; at += chunk) {
    const piece = body.subarray(at, at + chunk);
    chunks.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([
    Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`),
    ...chunks,
    Buffer.from('0\r\n\r\n'),
  ]);
}

/** Bytes that may be no HTTP at all, on a connection of their own, to its end. */
async function onWire(port: number, { cuts, hold }: Sending, bytes: Buffer): Promise<string[]> {
  const caller = await Caller.open(port);
  try {
    let from = 0;
    for (const cut of [...cuts, bytes.length]) {
      await caller.sendAlone(bytes.subarray(from, cut));
      from = cut;
    }
    if (!hold) caller.finish();
    const words: string[] = [];
    for (;;) {
      const answer = await caller.answer(PATIENCE_MS);
      if (answer === undefined) return words.length === 0 ? ['wire: no answer'] : words;
      if (hold) caller.finish();
      words.push(`wire ${answer.status}`);
      if (answer.status !== 200) judgeFailure(answer);
      else if (answer.body !== 'ok') judgeLoosely(answer, bytes);
    }
  } finally {
    caller.destroy();
  }
}

/** Where nobody can say what was asked: an AdmissionReview whose uid was in what was sent. */
function judgeLoosely({ body }: HttpAnswer, bytes: Buffer): void {
  const review = JSON.parse(body) as unknown;
  must(own(review, 'kind') === 'AdmissionReview', () => `no AdmissionReview: ${body}`);
  const uid = own(own(review, 'response'), 'uid');
  must(typeof uid === 'string' && uid !== '', 'no uid');
  if (/^[a-z0-9-]+$/.test(uid)) must(isReviewSomewhere(bytes, uid), () => `the uid ${uid} was not sent`);
}

/** Chunks may cut it in two. */
const isReviewSomewhere = (bytes: Buffer, uid: string): boolean =>
  bytes.includes(uid) ||
  bytes
    .toString('latin1')
    .replaceAll(/\r\n[0-9a-f]+\r\n/gi, '')
    .includes(uid);

const memoryOf = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+([0-9]+)/m.exec(status)?.[1] ?? 0) / 1024;
};
