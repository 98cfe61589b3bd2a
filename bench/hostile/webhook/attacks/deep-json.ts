import { overAndOver, requestOf, STRANGER, type Attack } from '../attack.ts';

/** Two of these ended a replica once. */
export const deepJson: Attack = {
  id: 'deep',
  title: '8 MB of [[[…]]]',
  crowd: {
    ...{ connections: 4, perSecond: 50, addresses: STRANGER, tls: true },
    join: overAndOver(requestOf('['.repeat(4_100_000) + ']'.repeat(4_100_000))),
  },
};
