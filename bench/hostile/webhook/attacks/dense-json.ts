import { overAndOver, requestOf, STRANGER, type Attack } from '../attack.ts';

const SIZE = 16_000;
/** Two lists, objects and keys in thirteen bytes: a little more would not be parsed. */
const PIECE = '{"a":"bcde"},';

export const denseJson: Attack = {
  id: 'dense',
  title: '16 KB as dense as is parsed',
  crowd: {
    ...{ connections: 8, perSecond: 50, addresses: STRANGER, tls: true },
    join: overAndOver(requestOf(`[${PIECE.repeat(SIZE / PIECE.length)}0]`)),
  },
};
