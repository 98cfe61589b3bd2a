import { own, ownString } from '../../json/json.ts';
import type { KubeObject } from '../client/resources.ts';

/** The `spec` of a Lease, as leader election uses it. */
export interface LeaseRecord {
  /** Empty when the last holder gave the Lease up. */
  readonly holder: string;
  readonly durationMs: number;
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly transitions: number;
}

export function readLease({ spec }: KubeObject): LeaseRecord {
  const seconds = own(spec, 'leaseDurationSeconds');
  const transitions = own(spec, 'leaseTransitions');
  return {
    holder: ownString(spec, 'holderIdentity') ?? '',
    durationMs: typeof seconds === 'number' ? seconds * 1000 : 0,
    acquireTime: ownString(spec, 'acquireTime') ?? '',
    renewTime: ownString(spec, 'renewTime') ?? '',
    transitions: typeof transitions === 'number' ? transitions : 0,
  };
}

/** The complete `spec`; the API has durations in whole seconds, at least one. */
export const leaseSpec = (record: LeaseRecord): object => ({
  holderIdentity: record.holder,
  leaseDurationSeconds: Math.max(1, Math.ceil(record.durationMs / 1000)),
  acquireTime: record.acquireTime,
  renewTime: record.renewTime,
  leaseTransitions: record.transitions,
});
