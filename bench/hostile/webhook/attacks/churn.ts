import { STRANGER, type Attack } from '../attack.ts';

/** A full handshake, and gone. */
export const churn: Attack = {
  id: 'churn',
  title: '300 handshakes a second',
  crowd: {
    ...{ connections: 100, perSecond: 300, addresses: STRANGER, tls: true },
    join: (socket) => void socket.end(),
  },
};
