import type { QueuedGang } from '../../../../src/fleet/queues/dispatch.ts';
import type { Queue } from '../../../../src/fleet/queues/queue-tree.ts';

type Counts = Readonly<Record<string, number>>;

export const queue = (
  name: string,
  { capacity = {}, ...rest }: Partial<Omit<Queue, 'capacity'>> & { capacity?: Counts } = {},
): Queue => ({
  name,
  weight: 1,
  parent: '',
  hold: false,
  ...rest,
  capacity: new Map(Object.entries(capacity)),
});

export const gang = (
  key: string,
  inQueue: string,
  { requests = {}, ...rest }: Partial<Omit<QueuedGang, 'requests'>> & { requests?: Counts } = {},
): QueuedGang => ({
  key,
  uid: key,
  queue: inQueue,
  priority: 0,
  since: 0,
  pods: 1,
  ...rest,
  requests: new Map(Object.entries(requests)),
});
