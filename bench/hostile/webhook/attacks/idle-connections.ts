import { STRANGERS, type Attack } from '../attack.ts';

/** More than there are places, and none of them ever asks. */
export const idleConnections: Attack = {
  id: 'idle',
  title: '1,100 idle connections',
  crowd: { connections: 1100, perSecond: 500, again: 50, addresses: STRANGERS, tls: true },
};
