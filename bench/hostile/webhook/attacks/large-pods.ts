import { bodyOf, reviewOf } from '../../../admission/reviews.ts';
import { API_SERVER, overAndOver, requestOf, type Attack } from '../attack.ts';

/** A Pod of a tenant with 16,000 environment variables. */
function largeReview(): string {
  const review = reviewOf(bodyOf(8)) as {
    request: { namespace: string; object: { spec: { containers: object[] } } };
  };
  review.request.namespace = 'tenant';
  const env = Array.from({ length: 16_000 }, (_, at) => ({
    name: `SERVING_OPTION_${at}`,
    value: `value-${at}-of-many`,
  }));
  Object.assign(review.request.object.spec.containers[0] ?? {}, { env });
  return JSON.stringify(review);
}

export const largePods: Attack = {
  id: 'pods',
  title: '1 MB Pods of a tenant',
  crowd: {
    ...{ connections: 4, perSecond: 50, addresses: API_SERVER, tls: true },
    join: overAndOver(requestOf(largeReview())),
  },
};
