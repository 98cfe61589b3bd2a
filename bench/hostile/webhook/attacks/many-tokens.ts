import { overAndOver, requestOf, STRANGER, type Attack } from '../attack.ts';

/** Below the size from which bodies are looked at before they are parsed. */
const SIZE = 16_000;

export const manyTokens: Attack = {
  id: 'tokens',
  title: '16 KB of {},{},…',
  crowd: {
    ...{ connections: 8, perSecond: 50, addresses: STRANGER, tls: true },
    join: overAndOver(requestOf(`[${'{},'.repeat(SIZE / 3)}0]`)),
  },
};
