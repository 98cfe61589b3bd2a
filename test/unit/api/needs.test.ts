import { describe, expect, test } from '@jest/globals';
import { decideWithNeeds, Needs, type MayNeed, type NeedsAnswered } from '../../../src/api/needs.ts';

/** Adds up what it needs, one number after the other, until there are as many as `wanted`. */
function adding(wanted: number, rounds = 8) {
  const asked: number[] = [];
  const decisions: (readonly number[])[] = [];
  const made: NeedsAnswered<number, number, readonly number[]> = {
    decide: (known): MayNeed<number, number> => {
      decisions.push(known);
      return known.length < wanted ? new Needs(known.length) : known.reduce((sum, one) => sum + one, 0);
    },
    answer: (needs, known) => {
      asked.push(needs);
      return Promise.resolve([...known, needs * 10]);
    },
    known: [],
    rounds,
    exhausted: (needs) => -needs,
  };
  return { made, asked, decisions };
}

describe('a decision', () => {
  test('that needs nothing asks nobody', async () => {
    const { made, asked } = adding(0);
    expect([await decideWithNeeds(made), asked]).toEqual([0, []]);
  });

  test('is made anew with each answer, and keeps the earlier ones', async () => {
    const { made, asked, decisions } = adding(3);
    expect(await decideWithNeeds(made)).toBe(30);
    expect(asked).toEqual([0, 1, 2]);
    expect(decisions).toEqual([[], [0], [0, 10], [0, 10, 20]]);
  });

  test('that was begun is not begun again', async () => {
    const { made, decisions } = adding(1);
    expect(await decideWithNeeds(made, new Needs(0))).toBe(0);
    expect(decisions).toEqual([[0]]);
    expect(await decideWithNeeds(made, 7)).toBe(7);
  });

  test('may be undefined, or a list', async () => {
    const nothing = { ...adding(0).made, decide: () => undefined, exhausted: () => undefined };
    expect(await decideWithNeeds<undefined, number, readonly number[]>(nothing)).toBeUndefined();
    const list = { ...adding(0).made, decide: () => [1], exhausted: () => [] };
    expect(await decideWithNeeds<number[], number, readonly number[]>(list)).toEqual([1]);
  });
});

describe('the rounds', () => {
  test.each([
    [0, -0, 0],
    [1, -1, 1],
    [4, -4, 4],
    [5, 100, 5],
  ])('are bounded: with %d of five', async (rounds, result, answers) => {
    const { made, asked } = adding(5, rounds);
    expect([await decideWithNeeds(made), asked.length]).toEqual([result, answers]);
  });

  test('end with an error where that is what comes after the last', async () => {
    const exhausted = (): never => {
      throw new RangeError('it changes faster than it is read');
    };
    await expect(decideWithNeeds({ ...adding(2, 1).made, exhausted })).rejects.toThrow(RangeError);
  });
});

describe('an error', () => {
  test('of an answer ends the decision', async () => {
    const { made, decisions } = adding(2);
    const answer = () => Promise.reject(new TypeError('nobody answers'));
    await expect(decideWithNeeds({ ...made, answer })).rejects.toThrow('nobody answers');
    expect(decisions).toEqual([[]]);
  });

  test.each([0, 1])('of the decision is passed on, also after an answer: %d', async (at) => {
    const { made } = adding(2);
    const decide = (known: readonly number[]): MayNeed<number, number> => {
      if (known.length === at) throw new TypeError('a defect');
      return made.decide(known);
    };
    await expect(decideWithNeeds({ ...made, decide })).rejects.toThrow('a defect');
  });
});
