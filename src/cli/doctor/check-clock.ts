import type { LeaseRecord } from '../../kube/loop/lease-record.ts';
import { saying, RIGHTS_FIX, type Diagnosis, type Read } from './diagnosis.ts';

/** Certificates are valid from five minutes before they are made, and Leases expire after seconds. */
const FAR_MS = 30_000;

export interface Clocks {
  /** Time of this machine when the API server answered. */
  readonly here: Date;
  readonly server: Read<Date>;
  /** Lease of the leader, with the time of the leader's clock. */
  readonly lease: Read<LeaseRecord> | undefined;
}

/** Reports clocks of the API server, the leader and this machine that differ: certificates and Leases depend on them. */
export function checkClock({ here, server, lease }: Clocks): Diagnosis[] {
  const say = saying('cluster', 'clock');
  if (server.state !== 'found') {
    return [
      say.notChecked(
        server.state === 'unread' ? server.reason : 'the API server does not tell its time',
        RIGHTS_FIX,
      ),
    ];
  }
  const findings: Diagnosis[] = [];
  const off = server.value.getTime() - here.getTime();
  if (Math.abs(off) > FAR_MS) {
    const found = `the API server’s clock is ${seconds(off)} this machine’s: certificates that one of them takes for valid the other may not`;
    findings.push(say.problem(found, 'set both clocks by NTP (timedatectl on either), then look again'));
  }
  if (lease?.state === 'found' && lease.value.holder !== '') {
    const ahead = Date.parse(lease.value.renewTime) - server.value.getTime();
    if (ahead > FAR_MS) {
      const found = `the clock of ${lease.value.holder}, which leads, is ${seconds(ahead)} the API server’s`;
      findings.push(say.problem(found, 'set the clock of its node by NTP (timedatectl there)'));
    }
  }
  return findings.length > 0 ? findings : [say.ok('the clocks agree')];
}

/** The difference in seconds. @param off milliseconds by which one clock is ahead of the other; negative: behind */
const seconds = (off: number): string =>
  `${Math.round(Math.abs(off) / 1000)} s ${off > 0 ? 'ahead of' : 'behind'}`;
