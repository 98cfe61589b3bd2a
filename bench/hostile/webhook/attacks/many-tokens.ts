import { overAndOver, requestOf, STRANGER, type Attack } from '../attack.ts';

/** Of the size of an ordinary review, and far too dense. */
const SIZE = 16_000;

export const manyTokens: Attack = {
  id: 'tokens',
  title: '16 KB of {},{},…',
  crowd: {
    ...{ connections: 8, perSecond: 50, addresses: STRANGER, tls: true },
    join: overAndOver(requestOf(`[${'{},'.repeat(SIZE / 3)}0]`)),
  },
};
