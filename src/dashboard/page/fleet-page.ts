import { h, type JSX } from 'preact';
import type { AssignedStatus, FleetMembers, MemberStatus } from '../../status/fleet-members.ts';
import { ReadPage } from './read-page.ts';
import { countText, stateBadge, table } from './words.ts';

/** Rows of the table of bindings: a document of 10,000 answers slowly. */
const MOST_BINDINGS = 1_000;

/** The clusters of a fleet, and the bindings that Muster assigns to them. */
export const FleetPage = (): JSX.Element =>
  h(ReadPage<FleetMembers>, {
    title: 'Fleet',
    path: '/api/v1/fleet',
    shown: (fleet) => (fleet.absent === null ? tables(fleet) : h('p', null, fleet.absent)),
  });

const tables = ({ clusters, bindings, schedulerName }: FleetMembers): (JSX.Element | null)[] => {
  const left = bindings.length - MOST_BINDINGS;
  return [
    clusters.length === 0
      ? h('p', null, 'The fleet has no clusters: join one to Karmada.')
      : clustersTable(clusters),
    bindings.length === 0
      ? h('p', null, 'No binding names the scheduler ', text(schedulerName), ': Muster has none to assign.')
      : bindingsTable(bindings.slice(0, MOST_BINDINGS)),
    left > 0 ? h('p', null, `${left} more bindings are left out; those that wait come first.`) : null,
  ];
};

const clustersTable = (clusters: readonly MemberStatus[]): JSX.Element =>
  table(
    'Clusters of the fleet',
    ['Cluster', 'Ready', 'Nodes', 'Free', 'Reason'],
    clusters.map(({ name, ready, nodes, free, allocatable, why }) => [
      text(name),
      stateBadge(READY[ready]),
      countText(nodes),
      free === null ? 'not known' : text(amountsText(free, allocatable)),
      text(why || '-'),
    ]),
  );

const READY = { True: 'Ready', False: 'NotReady', Unknown: 'Unknown' };

const amountsText = (free: Readonly<Record<string, string>>, of: Readonly<Record<string, string>>): string =>
  Object.entries(free)
    .map(([resource, amount]) => `${amount} of ${of[resource] ?? '?'} ${resource}`)
    .join(', ') || 'nothing';

const bindingsTable = (bindings: readonly AssignedStatus[]): JSX.Element =>
  table(
    'Bindings that Muster assigns',
    ['Binding', 'Workload', 'State', 'Clusters', 'Reason'],
    bindings.map(({ namespace, name, workload, state, clusters, why }) => [
      text(namespace === '' ? name : `${namespace}/${name}`),
      text(workload),
      stateBadge(state),
      clusters.length === 0 ? '-' : text(clusters.map(clusterText).join(', ')),
      text(why || '-'),
    ]),
  );

/** `m1 (3)`, or by template `m1 (master 1, worker 4)`; `m1` of what has no Pods, such as a ConfigMap. */
const clusterText = ({ name, replicas, components }: AssignedStatus['clusters'][number]): string => {
  const counts = components?.map((one) => `${one.name} ${one.replicas}`).join(', ') ?? (replicas || '');
  return counts === '' ? name : `${name} (${counts})`;
};

/** Text of others, whose direction does not reach what is beside it. */
const text = (given: string): JSX.Element => h('bdi', null, given);
