import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import { readProfileConfig, type ProfileSettings } from '../../../src/backends/profile-config.ts';

const settings = {
  queue: { type: 'string', description: 'd', check: (it) => (it === '' ? 'must not be empty' : undefined) },
  strict: { type: 'boolean', default: false, description: 'd' },
  seconds: { type: 'integer', default: 60, description: 'd' },
  tiers: { type: 'object', description: 'd' },
} as const satisfies ProfileSettings;
const read = (config: JsonObject) => () => readProfileConfig(config, settings);

describe("a backend's config", () => {
  test('has its defaults, and null is not given', () => {
    expect(read({})()).toEqual({ queue: undefined, strict: false, seconds: 60, tiers: undefined });
    expect(read({ queue: null, strict: null })()).toEqual({
      queue: undefined,
      strict: false,
      seconds: 60,
      tiers: undefined,
    });
    expect(read({ queue: 'a', strict: true, seconds: 0, tiers: { a: 1 } })()).toEqual({
      queue: 'a',
      strict: true,
      seconds: 0,
      tiers: { a: 1 },
    });
  });

  test.each<[JsonObject, string]>([
    [{ queu: 'a' }, 'config.queu: unknown key (did you mean "queue"?); keys: queue, strict, seconds, tiers'],
    [{ colour: 'a' }, 'config.colour: unknown key; keys: queue, strict, seconds, tiers'],
    [{ constructor: 1 }, 'config.constructor: unknown key; keys: queue, strict, seconds, tiers'],
    [{ '\u001b[2J': 1 }, 'config.\\u{1b}[2J: unknown key; keys: queue, strict, seconds, tiers'],
    [{ queue: 3 }, 'config.queue: must be a string, not 3'],
    [{ queue: '' }, 'config.queue: must not be empty, not ""'],
    [{ strict: 'yes' }, 'config.strict: must be true or false, not "yes"'],
    [{ tiers: ['a'] }, 'config.tiers: must be a map of keys to values, not a list'],
    [{ seconds: 1.5 }, 'config.seconds: must be a whole number, not 1.5'],
    [
      { seconds: [], queue: {} },
      'config.queue: must be a string, not an object; config.seconds: must be a whole number, not a list',
    ],
  ])('%j is refused with every reason', (config, message) => {
    expect(read(config)).toThrow(message);
  });

  test('of a backend without settings', () => {
    expect(() => readProfileConfig({ a: 1 }, {})).toThrow('config.a: unknown key; this backend has none');
  });
});
