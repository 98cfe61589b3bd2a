/** What `npm run fuzz` goes by, in short: nothing is found in the program, and what is planted into it is. */
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { policyFrom } from '../../../src/cli/input/policy.ts';
import { admissionEndpoints } from '../../../src/admission/endpoints.ts';
import { supportedSchedulers } from '../../../src/backends/registry.ts';
import { checkConfiguration, loadConfiguration } from '../../../src/config/load.ts';
import { verdictOn } from '../../../src/controller/fleet-bindings/verdict.ts';
import { BadRequest } from '../../../src/errors.ts';
import { findConnection } from '../../../src/kube/client/find-connection.ts';
import type { Reflector } from '../../../src/kube/loop/reflector.ts';
import type { Identified } from '../../../src/kube/loop/cache.ts';
import type { WebhookEndpoint } from '../../../src/api/webhook-endpoint.ts';
import { muster } from '../../unit/cli/fake-io.ts';
import { BROKEN } from '../../unit/gang/plan/broken-judges.ts';
import { openConfigurations } from '../../fuzz/configurations.ts';
import { openDocuments } from '../../fuzz/documents.ts';
import { openFleets } from '../../fuzz/fleets.ts';
import { fuzz, replay } from '../../fuzz/fuzz.ts';
import { openKubeconfigs } from '../../fuzz/kubeconfigs.ts';
import { openPodGangs } from '../../fuzz/pod-gangs.ts';
import { openReviews } from '../../fuzz/reviews.ts';
import { CONFIGURATION, surfaces, type Serving } from '../../fuzz/serving.ts';
import { targets } from '../../fuzz/targets.ts';
import type { Target, Trial } from '../../fuzz/target.ts';
import { openWatches, reflectorFor } from '../../fuzz/watches.ts';
import { closeAll, start } from '../server/running.ts';

/** The same inputs every time: those of other seeds are tried by `.ci/run`. */
const SEED = 20_260_601;
const COUNTS: Readonly<Record<string, number>> = { reviews: 500, 'pod-gangs': 200, watches: 100 };

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'muster-fuzz-'))));
afterAll(closeAll);

test.each(targets.map((target) => [target.name, target] as const))(
  '%s: nothing is found',
  async (name, target) => {
    const { findings, met, tried } = await fuzz(target, { count: COUNTS[name] ?? 150, seed: SEED, folder });
    expect(findings).toEqual([]);
    expect(met.size).toBeGreaterThan(5);
    expect(tried).toBe(COUNTS[name] ?? 150);
  },
);

/** What is found first where `open` gives a broken program; its input, tried again, shows the same. */
async function found(open: () => Promise<Trial> | Trial, count: number): Promise<string> {
  const target: Target = {
    name: 'broken',
    share: 1,
    reaches: { of: 1, words: [] },
    open: () => Promise.resolve(open()),
  };
  const { findings } = await fuzz(target, { count, seed: SEED, folder, enough: 1 });
  return findings[0]?.what ?? 'nothing';
}

describe('reviews: what is noticed', () => {
  /** The program in this process, with `change` made to the answers of every endpoint. */
  const broken = async (change: (body: string, asked: unknown) => string): Promise<Serving> => {
    const { configuration } = loadConfiguration({
      text: CONFIGURATION,
      env: {},
      flags: {},
      supportedSchedulers: supportedSchedulers().names,
    });
    const sound = admissionEndpoints(policyFrom(configuration), {
      prepared: () => undefined,
      decided: () => undefined,
    });
    const endpoints = sound.map((endpoint): WebhookEndpoint => ({
      ...endpoint,
      handle: (request) => {
        const { body: asked } = request;
        try {
          const answer = endpoint.handle(request);
          return answer instanceof Promise ? answer : { ...answer, body: change(answer.body, asked) };
        } catch (thrown) {
          if (!(thrown instanceof BadRequest)) throw thrown;
          const body = change('', asked);
          if (body === '') throw thrown;
          return { body, operation: 'CREATE', outcome: 'allowed', sent: () => undefined };
        }
      },
    }));
    const running = await start({ text: CONFIGURATION, endpoints });
    return {
      port: running.port,
      pid: process.pid,
      surfaceOf: surfaces(),
      failure: () => undefined,
      close: () => Promise.resolve(),
    };
  };
  const patched = (body: string, change: (operations: unknown[]) => unknown[]): string =>
    body.replace(/"patch":"([^"]+)"/, (_, patch: string) => {
      const operations = JSON.parse(Buffer.from(patch, 'base64').toString()) as unknown[];
      return `"patch":"${Buffer.from(JSON.stringify(change(operations))).toString('base64')}"`;
    });
  let times = 0;

  test.each<[string, (body: string, asked: unknown) => string, RegExp]>([
    [
      'the uid of another request',
      (body) => body.replace(/"uid":"[^"]*"/, '"uid":"x"'),
      /uid of another request/,
    ],
    [
      'allowed, whatever came',
      (body) =>
        body === ''
          ? '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"x","allowed":true}}'
          : body,
      /uid of another request|it is no review/,
    ],
    [
      'a patch whose parent is missing',
      (body) =>
        patched(body, (operations) => [...operations, { op: 'add', path: '/metadata/x/y', value: 1 }]),
      /OPERATION_PATH|parent/,
    ],
    [
      'a patch of what nobody declared',
      (body) =>
        patched(body, (operations) => [...operations, { op: 'add', path: '/spec/hostNetwork', value: true }]),
      /changed more|is changed at/,
    ],
    [
      'a patch that is made anew each time',
      (body) =>
        body.includes('"patch"') || !body.includes('"gang":"ml/train"') || body.includes('"allowed":false')
          ? body
          : body.replace(
              '"allowed":true',
              `"allowed":true,"patchType":"JSONPatch","patch":"${Buffer.from('[{"op":"add","path":"/metadata/labels","value":{}}]').toString('base64')}"`,
            ),
      /second pass|validating endpoint|changed more|patched by nobody/,
    ],
    ['a refusal by no rule', (body) => body.replaceAll(/ ?\[[A-Z][A-Za-z]+\]"/g, '"'), /refusal by no rule/],
    [
      'an escape for a terminal',
      (body) => body.replace('"message":"', '"message":"\\u001b[31m'),
      /has the character 1b/,
    ],
    [
      'an answer that depends on the one before',
      (body) => body.replace('"allowed":true', `"allowed":true,"warnings":["${(times += 1)}"]`),
      /the same bytes, another answer|what is left out has a say/,
    ],
    [
      'a defect',
      (body, asked) => {
        if (JSON.stringify(asked).includes('kai.scheduler')) throw new TypeError('x is not a function');
        return body;
      },
      /an answer 500|answered 500/,
    ],
  ])('%s', async (_what, change, says) => {
    expect(await found(() => openReviews(() => broken(change)), 1_500)).toMatch(says);
  });
});

test.each(
  BROKEN.filter(({ what }) =>
    /^ungates without Init|takes foreign gates|early|conditions of others|another namespace|counts and releases|sort references|release order|nothing has changed/.test(
      what,
    ),
  ).map((one) => [one.what, one] as const),
)('pod-gangs: a loop is noticed that %s', async (_what, { judge }) => {
  expect(await found(() => openPodGangs(judge), 3_000)).toMatch(
    /^(I\d+|base gang|order|status): |no rest after/,
  );
});

describe('configurations: what is noticed', () => {
  test.each<[string, Parameters<typeof openConfigurations>[0], RegExp]>([
    [
      'a raw exception',
      {
        load: loadConfiguration,
        check: (text, options) => {
          if (text.includes('leaseDuration')) throw new TypeError('x is not a function');
          return checkConfiguration(text, options);
        },
      },
      /x is not a function/,
    ],
    [
      'a raw message',
      {
        load: loadConfiguration,
        check: (text, options) => [
          ...checkConfiguration(text, options),
          { path: 'leader', message: 'undefined is no number', severity: 'warning' },
        ],
      },
      /a raw message: undefined is no number/,
    ],
    [
      'a fault of no field',
      {
        load: loadConfiguration,
        check: (text, options) =>
          checkConfiguration(text, options).map(({ message, severity }) => ({ path: '', message, severity })),
      },
      /of no field and no place/,
    ],
    [
      'an error that is let pass',
      { check: checkConfiguration, load: (given) => loadConfiguration({ ...given, text: CONFIGURATION }) },
      /loaded in spite of an error/,
    ],
  ])('%s', async (_what, readers, says) => {
    expect(await found(() => openConfigurations(readers), 300)).toMatch(says);
  });

  test('a message that quotes such a word from the file is not raw', async () => {
    const selector = '{ matchLabels: { "undefined[object Object]": x } }';
    const text = `controllers: { podGang: { namespaceSelector: ${selector} } }`;
    const trial = openConfigurations();
    const words = await trial.attempt(Buffer.from(`{"env":{},"flags":{}}\n${text}`));
    expect(words).toContainEqual(expect.stringContaining('is not a valid label key'));
  });
});

describe('kubeconfigs: what is noticed', () => {
  test.each<[string, typeof findConnection, RegExp]>([
    [
      'a raw exception',
      (given) =>
        findConnection(given).catch(() => {
          throw new TypeError('x is undefined');
        }),
      /no error of ours: TypeError/,
    ],
    [
      'a secret in a message',
      (given) =>
        findConnection(given).catch((thrown: unknown) => {
          throw Object.assign(thrown as Error, { message: `token my-secret: ${(thrown as Error).message}` });
        }),
      /a secret is told/,
    ],
    [
      'a header that HTTP does not take',
      async (given) => ({
        ...(await findConnection(given)),
        headers: () => Promise.resolve({ authorization: 'Bearer a\nb' }),
      }),
      /Invalid character in header/,
    ],
  ])('%s', async (_what, find, says) => {
    expect(await found(() => openKubeconfigs(find), 300)).toMatch(says);
  });
});

describe('watches: what is noticed', () => {
  type Given = Parameters<typeof reflectorFor>[0];
  test.each<[string, (given: Given) => Reflector<Identified>, RegExp]>([
    [
      'an event that gets lost',
      (given) =>
        reflectorFor({
          ...given,
          client: {
            ...given.client,
            watch: async function* <T>(...args: Parameters<typeof given.client.watch>) {
              for await (const events of given.client.watch<T>(...args)) yield events.slice(0, 2);
            },
          },
        }),
      /gave up after 2000 ms waiting until the cache/,
    ],
    [
      'a failure that nobody hears of',
      (given) => reflectorFor({ ...given, failed: () => undefined }),
      /nothing was reported/,
    ],
  ])('%s', async (_what, make, says) => {
    expect(await found(() => openWatches(make, 2_000), 60)).toMatch(says);
  });
});

describe('documents: what is noticed', () => {
  test.each<[string, typeof muster, RegExp]>([
    [
      'an exit code of no list',
      async (...args) => ({ ...(await muster(...args)), code: 3 }),
      /the exit code 3/,
    ],
    [
      'a stack trace',
      async (...args) => ({ ...(await muster(...args)), err: 'error: x\n    at f (/src/a.ts:1:2)\n' }),
      /a raw error/,
    ],
    [
      'what moves a cursor',
      async (args, given) => {
        const ran = await muster(args, given);
        return { ...ran, out: ran.out.replace('train', '\u001b[2Jtrain') };
      },
      /has the character 1b/,
    ],
    [
      'another verdict over YAML than over JSON',
      async (args, given) => {
        const ran = await muster(args, given);
        return given?.stdin?.toString().startsWith('{') === false
          ? { ...ran, out: ran.out.replace('"allowed": false', '"allowed": true') }
          : ran;
      },
      /as JSON: /,
    ],
  ])('%s', async (_what, run, says) => {
    expect(await found(() => openDocuments(run), 400)).toMatch(says);
  });
});

test('what was found is kept, and is tried again from its file', async () => {
  const target: Target = {
    name: 'broken',
    share: 1,
    reaches: { of: 1, words: [] },
    open: () => openDocuments(async (...args) => ({ ...(await muster(...args)), code: 3 })),
  };
  const { findings } = await fuzz(target, { count: 5, seed: 7, folder, enough: 1 });
  const input = await readFile(findings[0]?.file ?? '');
  await expect(replay(target, input)).rejects.toThrow('the exit code 3');
});

test('a grammar that does not get far enough is a failure by itself', async () => {
  const target: Target = {
    name: 'shallow',
    share: 1,
    reaches: { of: 1_000, words: ['deep'] },
    open: () =>
      Promise.resolve({
        width: 1,
        make: () => Buffer.alloc(0),
        attempt: () => Promise.resolve(['refused']),
        close: () => Promise.resolve(),
      }),
  };
  const { findings } = await fuzz(target, { count: 1_000, seed: 1, folder });
  expect(findings.map(({ what }) => what)).toEqual([
    expect.stringContaining('no input of 1000 came to: deep'),
  ]);
});

test('fleets: a binding sent to a cluster that is not there is noticed', async () => {
  const what = await found(
    () => openFleets((...given) => ({ ...verdictOn(...given), clusters: [{ name: 'm3', replicas: 1 }] })),
    20,
  );
  expect(what).toContain('sent to m3, which is no cluster');
});
