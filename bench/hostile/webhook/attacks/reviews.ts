import { bodyOf, reviewOf } from '../../../admission/reviews.ts';
import { overAndOver, requestOf, STRANGER, type Attack } from '../attack.ts';

/** Good reviews, as fast as they are answered. */
export const reviews: Attack = {
  id: 'reviews',
  title: '64 × 8 KiB without pause',
  crowd: {
    ...{ connections: 64, perSecond: 200, addresses: STRANGER, tls: true },
    join: overAndOver(requestOf(JSON.stringify(reviewOf(bodyOf(8))))),
  },
};
