import { drop, requestOf, STRANGERS, type Attack } from '../attack.ts';

const request = requestOf(' '.repeat(8192));

/** More than there are places for reviews in flight. */
export const slowBodies: Attack = {
  id: 'slow',
  title: '400 slow bodies',
  crowd: {
    ...{ connections: 400, perSecond: 200, again: 50, addresses: STRANGERS, tls: true },
    join: drop(request, request.length - 8000),
  },
};
