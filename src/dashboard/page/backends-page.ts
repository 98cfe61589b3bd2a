import { h, type JSX } from 'preact';
import type { BackendsStatus, BackendStatus } from '../../status/backend-status.ts';
import { ReadPage } from './read-page.ts';
import { stateBadge, table } from './words.ts';

/** The scheduler backends: whether the cluster has what they take, and how many gangs they serve. */
export const BackendsPage = (): JSX.Element =>
  h(ReadPage<BackendsStatus>, {
    title: 'Backends',
    path: '/api/v1/backends',
    shown: ({ backends }) =>
      table(
        'Scheduler backends',
        ['Backend', 'State', 'Gangs', 'Speaks', 'Kinds', 'Reason'],
        backends.map((backend) => [
          h('bdi', null, backend.name, backend.default === true ? ' (default)' : ''),
          ...[stateBadge(backend.state), backend.gangs, backend.version || '-'],
          ...[kindsText(backend), h('bdi', null, backend.says.join('; ') || '-')],
        ]),
      ),
  });

const kindsText = ({ kinds }: BackendStatus): string =>
  kinds
    .map(
      ({ kind, apiVersion, served }) =>
        `${kind} of ${apiVersion}${served === true ? '' : served === null ? ': not known' : ': not served'}`,
    )
    .join(', ') || '-';
