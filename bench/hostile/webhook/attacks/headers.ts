import { bodyOf, reviewOf } from '../../../admission/reviews.ts';
import { overAndOver, requestOf, STRANGER, type Attack } from '../attack.ts';

/** As many as fit into the 16 KiB that there are for headers. */
const flood = Array.from({ length: 900 }, (_, at) => `x-${at}: ${at}\r\n`).join('');

export const headers: Attack = {
  id: 'headers',
  title: '900 headers a request',
  crowd: {
    ...{ connections: 8, perSecond: 50, addresses: STRANGER, tls: true },
    join: overAndOver(requestOf(JSON.stringify(reviewOf(bodyOf(2))), flood)),
  },
};
