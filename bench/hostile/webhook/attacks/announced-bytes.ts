import { drop, requestOf, STRANGERS, type Attack } from '../attack.ts';

const MOST = 8 * 1024 * 1024;
const request = requestOf(' '.repeat(8192), '', MOST);

/** Announces more bytes than may be in flight, and does not send them. */
export const announcedBytes: Attack = {
  id: 'announced',
  title: '30 × 8 MiB announced',
  crowd: {
    ...{ connections: 30, perSecond: 100, addresses: STRANGERS, tls: true },
    join: drop(request, request.length - 8000),
  },
};
