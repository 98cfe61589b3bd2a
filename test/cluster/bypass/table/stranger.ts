import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from '@jest/globals';
import { PATH_MUTATE_POD, PATH_VALIDATE_POD_GANG, MUSTER_USER } from '../../../../src/api/names.ts';
import { review } from '../../../support/reviews.ts';
import { httpRequest, Wire } from '../../../component/server/wire.ts';
import { until } from '../../control-plane/until.ts';
import { httpGet } from '../../support/http-get.ts';
import { MAX_CONNECTIONS, type Scene } from '../scene.ts';
import { harmless, muster, type Answer, type Way } from '../way.ts';

/** One request to Muster itself, by somebody who has no certificate and no account. */
async function ask(scene: Scene, ...requests: readonly Buffer[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const request of requests) {
    const wire = await Wire.open(scene.muster.port);
    try {
      wire.socket.write(request);
      const { status, body } = await wire.answer();
      answers.push({ status, body });
    } finally {
      wire.destroy();
    }
  }
  return answers;
}
const podReview = (scene: Scene, change: object = {}): string =>
  JSON.stringify(
    review('Pod', { namespace: scene.namespace, object: { ...scene.pod('w0'), ...change } as never }),
  );
/** That it goes on serving the API server. */
const serves = async (scene: Scene): Promise<void> => {
  await scene.make(scene.gangs(), scene.gang());
  await scene.make(scene.pods(), scene.pod('after'));
  await scene.untilSaid('worker 1/2');
};
/** The answers of reviews: what they decide is decided of nothing that is stored. */
const decisionsOf = (answers: readonly Answer[]): Answer[] =>
  answers.map(({ status, body }) => {
    expect(JSON.parse(body as string)).toMatchObject({ kind: 'AdmissionReview' });
    return { status, body };
  });

/** Whoever reaches Muster's port. It must be reachable: API servers call from addresses that nobody knows beforehand. */
export const STRANGER_WAYS: readonly Way[] = [
  {
    who: 'stranger',
    tries: 'sends Muster reviews of his own: of a Pod, and of a gang in the name of Muster’s account',
    ends: { up: harmless(200, 'an answer changes nothing: it is the API server that stores') },
    given: (scene) => scene.waiting(),
    attempt: async (scene) => {
      const status = { conditions: [{ type: 'Initialized', status: 'True' }] };
      const object = { ...scene.gang(), status };
      const username = MUSTER_USER;
      const forged = review('PodGang', {
        operation: 'UPDATE',
        subResource: 'status',
        object: object as never,
        oldObject: scene.gang() as never,
        userInfo: { username },
      } as never);
      return decisionsOf(
        await ask(
          scene,
          httpRequest(PATH_MUTATE_POD, podReview(scene)),
          httpRequest(PATH_VALIDATE_POD_GANG, JSON.stringify(forged)),
        ),
      );
    },
    then: async (scene) => expect(await scene.initialized()).toBe('False'),
  },
  {
    who: 'stranger',
    tries:
      'hides a request in another (`Content-Length` beside `Transfer-Encoding`, two lengths, a space before the colon)',
    ends: muster(400, ''),
    attempt: (scene) =>
      ask(
        scene,
        httpRequest(PATH_MUTATE_POD, '0\r\n\r\nGET /x HTTP/1.1\r\n\r\n', {
          headers: { 'Transfer-Encoding': 'chunked' },
        }),
        Buffer.from(
          `POST ${PATH_MUTATE_POD} HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}`,
        ),
        Buffer.from(`POST ${PATH_MUTATE_POD} HTTP/1.1\r\nHost: x\r\nContent-Length : 2\r\n\r\n{}`),
      ),
    then: serves,
  },
  {
    who: 'stranger',
    tries: 'sends headers without end: one of 100 KB, and 5,000 short ones',
    ends: muster(431, ''),
    attempt: (scene) =>
      ask(
        scene,
        httpRequest(PATH_MUTATE_POD, '{}', { headers: { 'X-Long': 'x'.repeat(100_000) } }),
        httpRequest(PATH_MUTATE_POD, '{}', {
          headers: Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`X-${index}`, 'x'])),
        }),
      ),
    then: serves,
  },
  {
    who: 'stranger',
    tries: 'sends a review larger than any object can be',
    ends: muster(413, 'the review is larger than 8388608 bytes'),
    attempt: (scene) =>
      ask(
        scene,
        Buffer.from(
          `POST ${PATH_MUTATE_POD} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900000000\r\n\r\n{`,
        ),
      ),
    then: serves,
  },
  {
    who: 'stranger',
    tries: 'sends a compressed review, a kilobyte that unfolds to a megabyte',
    ends: muster(415, ''),
    attempt: (scene) =>
      ask(
        scene,
        httpRequest(
          PATH_MUTATE_POD,
          gzipSync(podReview(scene, { status: { message: 'x'.repeat(1_000_000) } })),
          {
            headers: { 'Content-Encoding': 'gzip' },
          },
        ),
      ),
    then: serves,
  },
  {
    who: 'stranger',
    tries: 'asks for other paths, with escapes of a terminal in them, for the log',
    ends: muster(404, 'no such path'),
    attempt: async (scene) => {
      const answers = await ask(
        scene,
        httpRequest('/%1b[2J/../mutate-v1-pod', '{}'),
        httpRequest('/__proto__', '{}'),
        httpRequest(`/${'x'.repeat(8000)}`, '{}'),
      );
      for (const { body } of answers) expect(body).not.toMatch(/[\u0000-\u001f]/);
      return answers;
    },
    then: (scene) => {
      expect(JSON.stringify(scene.muster.log())).not.toMatch(/[\u0000-\u001f]|\\u001b/);
      return serves(scene);
    },
  },
  {
    who: 'stranger',
    tries: 'sends a review with `__proto__` and `constructor` as labels, and beside every field',
    ends: { up: harmless(200, 'Muster reads own properties only') },
    attempt: async (scene) => {
      const labels = '"__proto__":"train","constructor":"x","toString":"y"';
      const text = podReview(scene)
        .replaceAll('"labels":{', `"labels":{${labels},`)
        .replaceAll('"spec":{', '"spec":{"__proto__":{"nodeName":"n1"},');
      return ask(scene, httpRequest(PATH_MUTATE_POD, text));
    },
    then: serves,
  },
  {
    who: 'stranger',
    tries: 'reads metrics and probes for names of others',
    ends: { up: harmless(200, 'no label of a metric is ever the name of a namespace, a gang or a user') },
    given: (scene) => scene.waiting(),
    attempt: async (scene) => {
      const answers: Answer[] = [];
      for (const url of [
        `http://127.0.0.1:${scene.muster.metricsPort}/metrics`,
        `http://127.0.0.1:${scene.muster.healthPort}/readyz`,
      ]) {
        // While it is busy with what the others try, its probe of itself may come late.
        const answer = await until(`${url} answers 200`, async () => {
          const { status, text } = await httpGet(Number(new URL(url).port), new URL(url).pathname);
          expect(text).not.toContain(scene.namespace);
          return status === 200 && { status, body: text };
        });
        answers.push(answer);
      }
      return answers;
    },
  },
  {
    who: 'stranger',
    tries: 'sends eight megabytes of nothing but brackets, which take thirty times that once parsed',
    ends: muster(413, 'too costly to parse'),
    attempt: (scene) =>
      ask(
        scene,
        httpRequest(PATH_MUTATE_POD, '['.repeat(8_200_000)),
        httpRequest(PATH_MUTATE_POD, `{"request":{"object":${'[],'.repeat(2_700_000)}`),
      ),
    then: serves,
  },
  {
    who: 'stranger',
    tries: 'takes all connections that Muster accepts, and asks nothing',
    alone: true,
    ends: {
      up: harmless(
        200,
        'whoever has asked nothing gives way to a newcomer; the API server’s connections stay',
      ),
    },
    attempt: async (scene) => {
      const opened = await Promise.allSettled(
        Array.from({ length: MAX_CONNECTIONS }, () => Wire.open(scene.muster.port)),
      );
      try {
        await serves(scene);
        const ready = await fetch(`http://127.0.0.1:${scene.muster.healthPort}/readyz`);
        return [{ status: ready.status, body: await ready.text() }];
      } finally {
        for (const one of opened) if (one.status === 'fulfilled') one.value.destroy();
      }
    },
  },
  {
    who: 'stranger',
    tries: 'opens connections and begins handshakes that he never ends',
    alone: true,
    ends: {
      up: harmless(200, 'an unfinished handshake gives way when places are short, and ends after 5 s'),
    },
    attempt: async (scene) => {
      const sockets = Array.from({ length: MAX_CONNECTIONS }, () => {
        const socket = connect(scene.muster.port, '127.0.0.1');
        socket.on('error', () => undefined).write(Buffer.from('16030102000100', 'hex'));
        return socket;
      });
      try {
        await serves(scene);
        const ready = await fetch(`http://127.0.0.1:${scene.muster.healthPort}/readyz`);
        return [{ status: ready.status, body: await ready.text() }];
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    },
  },
];
