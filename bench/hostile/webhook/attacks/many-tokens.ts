import { overAndOver, requestOf, STRANGER, type Attack, type CrowdOf } from '../attack.ts';

/** Of the size of an ordinary review. */
const SIZE = 16_000;

const listsOf = (piece: string): CrowdOf => ({
  ...{ connections: 8, perSecond: 50, addresses: STRANGER, tls: true },
  join: overAndOver(requestOf(`[${piece.repeat(SIZE / piece.length)}0]`)),
});

export const manyTokens: Attack = { id: 'tokens', title: '16 KB of {},{},…', crowd: listsOf('{},') };

/** Two lists, objects and keys in thirteen bytes: a little more would not be parsed. */
export const denseJson: Attack = {
  id: 'dense',
  title: '16 KB as dense as is parsed',
  crowd: listsOf('{"a":"bcde"},'),
};
