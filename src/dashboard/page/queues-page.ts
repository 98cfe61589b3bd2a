import { h, type JSX } from 'preact';
import type { FleetStatus } from '../../status/fleet-status.ts';
import { ReadPage } from './read-page.ts';
import { table, timeText } from './words.ts';

/** The queues of a fleet, and the bindings that wait in them. */
export const QueuesPage = (): JSX.Element =>
  h(ReadPage<FleetStatus>, {
    title: 'Queues',
    path: '/api/v1/queues',
    shown: (fleet) => [queuesTable(fleet), waitingTable(fleet)],
  });

const queuesTable = ({ queues }: FleetStatus): JSX.Element =>
  table(
    'Queues of the fleet',
    ['Queue', 'Parent', 'Weight', 'Waiting', 'Through', 'Used'],
    queues.map(({ name, parent, weight, waiting, through, closed, capacity, used }) => [
      ...[name, parent || '-', weight, waiting, through],
      closed ??
        (Object.entries(capacity)
          .map(([resource, most]) => `${used[resource] ?? '0'} of ${most} ${resource}`)
          .join(', ') ||
          'no limit'),
    ]),
  );

const waitingTable = ({ waiting }: FleetStatus): JSX.Element =>
  table(
    'Bindings that wait',
    ['Queue', 'Position', 'Binding', 'Since', 'Reason'],
    waiting.map(({ queue, position, namespace, name, since, why }) => [
      ...[queue ?? '-', position || '-', namespace === '' ? name : `${namespace}/${name}`],
      ...[timeText(since), why],
    ]),
  );
