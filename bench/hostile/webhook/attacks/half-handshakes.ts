import { STRANGERS, type Attack } from '../attack.ts';

/** The beginning of a TLS record that never gets its end. */
const HALF_A_HELLO = Buffer.from('16030102000100', 'hex');

export const halfHandshakes: Attack = {
  id: 'handshakes',
  title: '1,500 half handshakes',
  crowd: {
    ...{ connections: 1500, perSecond: 500, again: 50, addresses: STRANGERS, tls: false },
    join: (socket) => void socket.write(HALF_A_HELLO),
  },
};
