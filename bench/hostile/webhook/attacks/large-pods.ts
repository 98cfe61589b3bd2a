import { bodyOf, reviewOf } from '../../../admission/reviews.ts';
import { API_SERVER, overAndOver, requestOf, type Attack } from '../attack.ts';

/** A Pod of a tenant with 20,000 volumes. */
function largeReview(): string {
  const review = reviewOf(bodyOf(8)) as { request: { namespace: string; object: { spec: object } } };
  review.request.namespace = 'tenant';
  const volumes = Array.from({ length: 20_000 }, (_, at) => ({ name: `scratch-volume-${at}`, emptyDir: {} }));
  Object.assign(review.request.object.spec, { volumes });
  return JSON.stringify(review);
}

/** As many as an API server with its etcd may bring of one tenant. */
export const largePods: Attack = {
  id: 'pods',
  title: '1 MB Pods of a tenant, 20 a second',
  crowd: {
    ...{ connections: 4, perSecond: 50, addresses: API_SERVER, tls: true },
    join: overAndOver(requestOf(largeReview()), 200),
  },
};
