/**
 * Every way round gang admission that we know of, tried on a real API server with Muster's policies: while Muster runs,
 * while its webhooks are gone, and while it does not answer. docs/reference/attacks.md is made from the same table.
 */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inLength } from '../../support/length.ts';
import { clusterSuite } from '../control-plane/suite.ts';
import { Scene } from './scene.ts';
import { openStage, type Stage } from './stage.ts';
import { WAYS } from './table.ts';
import { endOf, refuserOf, STATES, type End, type State, type Way } from './way.ts';

/** At once: all of them share the processors, and on a busy machine Muster is to answer each within the five seconds of its webhooks. */
const AT_ONCE = 6;

interface Try {
  readonly way: Way;
  readonly state: State;
  readonly end: End;
  readonly number: number;
}
/** What ends alike whatever becomes of Muster is tried in one state by turns in the short form. */
const statesOf = ({ ends }: Way, number: number): readonly State[] =>
  'kind' in ends
    ? inLength<readonly State[]>({
        short: STATES.filter((_, at) => at === number % STATES.length),
        long: STATES,
      })
    : STATES;
const TRIES: readonly Try[] = WAYS.flatMap((way, number) =>
  statesOf(way, number).flatMap((state) => {
    const end = endOf(way, state);
    return end === undefined ? [] : [{ way, state, end, number }];
  }),
);

clusterSuite('ways round gang admission', () => {
  let stage: Stage;
  const scenes = new Map<Try, Scene>();
  /** What went wrong, of those that were tried; one that is missing was not. */
  const outcomes = new Map<Try, unknown>();

  const all = async (tries: readonly Try[], deed: (one: Try) => Promise<void>): Promise<void> => {
    const left = [...tries];
    const worker = async (): Promise<void> => {
      for (let one = left.shift(); one !== undefined; one = left.shift()) {
        await deed(one).catch((error: unknown) => void outcomes.set(one, error));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  };

  beforeAll(async () => {
    stage = await openStage();
    await all(TRIES, async (one) => {
      const scene = new Scene(stage, one.state, one.number);
      await scene.open();
      await one.way.given?.(scene);
      scenes.set(one, scene);
    });
  }, 180_000);

  afterAll(() => stage?.close(), 30_000);

  describe.each(STATES)('Muster %s', (state) => {
    const here = TRIES.filter((one) => one.state === state);

    beforeAll(async () => {
      await stage.enter(state);
      const attempt = async (one: Try): Promise<void> => {
        const scene = scenes.get(one);
        if (scene === undefined) return;
        await judge(one, scene);
        outcomes.set(one, 'as the table says');
      };
      await all(
        here.filter(({ way }) => way.alone !== true),
        attempt,
      );
      for (const one of here.filter(({ way }) => way.alone === true)) await all([one], attempt);
    }, 180_000);

    test.each(here.map((one) => [`${one.way.who} ${one.way.tries}`, one] as const))('%s', (_, one) => {
      const outcome = outcomes.get(one);
      if (outcome instanceof Error) throw outcome;
      expect(outcome).toBe('as the table says');
    });
  });
});

/** Tries one way. @throws where it ends otherwise than the table says */
async function judge({ way, end }: Try, scene: Scene): Promise<void> {
  const before = end.kind === 'refused' ? await scene.snapshot() : undefined;
  const answers = await way.attempt(scene);
  expect(answers.length).toBeGreaterThan(0);
  for (const answer of answers) {
    if (end.kind !== 'refused') {
      expect({ status: answer.status, body: answer.status === end.status ? undefined : answer.body }).toEqual(
        { status: end.status },
      );
      continue;
    }
    const found = { status: answer.status, by: refuserOf(answer) };
    const { by } = end;
    const wanted =
      by.kind === 'api-server' || by.kind === 'muster'
        ? { kind: 'api-server', says: expect.stringContaining(by.says) }
        : by;
    const other = end.or !== undefined && isDeepStrictEqual(found.by, end.or);
    expect(found).toEqual({ status: end.status, by: other ? end.or : wanted });
  }
  if (end.kind === 'refused') expect(await scene.snapshot()).toEqual(before);
  await way.then?.(scene);
}
