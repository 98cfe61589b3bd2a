/** What is left of reviews that are over: V8 keeps its code for them while an object of each class is alive (docs/adr/0057). */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, expect, jest, test } from '@jest/globals';
import { JsonPodPatch } from '../../../src/admission/pod-patch.ts';
import { LARGE_BYTES } from '../../../src/server/admission-limiter.ts';
import { Exchange } from '../../../src/server/exchange.ts';
import { MUTATE_POD, goldenText } from './bodies.ts';
import { closeAll, expectGolden, start, until } from './running.ts';
import { Wire, httpRequest } from './wire.ts';

afterEach(() => void jest.restoreAllMocks());
afterAll(closeAll);

/** @returns which of the exchanges and which of the patches since then outlive a whole collection, by their order */
function watchObjects(): () => number[][] {
  const [exchanges, patches]: WeakRef<object>[][] = [[], []];
  const begin: (this: Exchange) => void = Reflect.get(Exchange.prototype, 'begin');
  jest.spyOn(Exchange.prototype, 'begin').mockImplementation(function (this: Exchange) {
    exchanges?.push(new WeakRef(this));
    begin.call(this);
  });
  type AddGate = JsonPodPatch['addGate'];
  const addGate: AddGate = Reflect.get(JsonPodPatch.prototype, 'addGate');
  jest.spyOn(JsonPodPatch.prototype, 'addGate').mockImplementation(function (this: JsonPodPatch, ...given) {
    patches?.push(new WeakRef(this));
    addGate.apply(this, given);
  });
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return () => {
    jest.clearAllMocks();
    collect();
    return [exchanges, patches].map((refs = []) => [...refs.keys()].filter((nth) => refs[nth]?.deref()));
  };
}

test('the objects of the last small review outlive it, and those of a large one do not', async () => {
  const { port } = await start();
  const alive = watchObjects();
  const review = async (text: string): Promise<void> => {
    const wire = await Wire.open(port);
    expectGolden(await wire.send(httpRequest(MUTATE_POD, text)).answer());
    wire.destroy();
  };
  const left = async (nth: number): Promise<void> => {
    await until('one is left', () => alive().every(({ length }) => length === 1));
    expect(alive()).toEqual([[nth], [nth]]);
  };
  for (let time = 0; time < 3; time += 1) await review(goldenText);
  await left(2);
  await review(goldenText.padEnd(LARGE_BYTES + 1, ' '));
  await left(2);
  await review(goldenText);
  await left(4);
});
