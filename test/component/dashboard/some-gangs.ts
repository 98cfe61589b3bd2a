import type { BackendStatus } from '../../../src/status/backend-status.ts';
import type { FleetMembers } from '../../../src/status/fleet-members.ts';
import type { GangStatus } from '../../../src/status/gang-status.ts';
import { LiveGangs } from '../../../src/dashboard/live-gangs.ts';
import { startDashboard, type DashboardServer } from '../../../src/dashboard/dashboard-server.ts';
import type { GangDetail, PlanAnswer, PlannedGang } from '../../../src/dashboard/wire.ts';
import type { Changed, Trouble } from '../../../src/status/moment.ts';

/** A gang of one group of one Pod. */
export function someGang(
  name: string,
  given: { phase?: 'Pending' | 'Running'; why?: string } = {},
): GangStatus {
  const { phase = 'Pending', why = phase === 'Running' ? '' : 'waiting for Pods: leader 0/1' } = given;
  const ready = phase === 'Running' ? 1 : 0;
  const counts = { expected: 1, present: 1, referenced: 1, bound: ready, ready, gated: 1 - ready };
  return {
    ...{ namespace: 'ml', name, backend: 'kai-scheduler', why },
    creationTimestamp: '2026-01-01T00:00:00Z',
    summary: {
      ...{ namespace: 'ml', name, backend: 'kai-scheduler', phase, why },
      ...{ initialized: ready === 1, gatesLeft: 1 - ready },
      groups: [{ name: 'leader', minReplicas: 1, ...counts }],
    },
    pods: [
      {
        ...{ name: `${name}-0`, group: 'leader', node: ready === 1 ? 'node-1' : '' },
        ...(ready === 1
          ? { state: 'running' as const, reason: '' }
          : { state: 'gated' as const, reason: 'the gang is not complete' }),
      },
    ],
  };
}

/** What the API server might know of it. */
export function detailOf(gang: GangStatus): GangDetail {
  const { name, why } = gang;
  const at = '2026-01-01T00:00:01Z';
  const pods = [`${name}-0`];
  return {
    gang,
    timeline: {
      steps: [{ at, step: 'first-pod', generation: 1, pods, waitedFor: 'its first Pod', says: why }],
      waiting: { since: at, generation: 1, for: why },
      unknown: ['what was before'],
      svg: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 100"><script>parent.owned = 1</script></svg>',
    },
    objects: [
      {
        ...{ kind: 'PodGroup', name, created: at, phase: 'Pending' },
        conditions: [{ type: 'Unschedulable', status: 'True', reason: 'NoRoom', message: why }],
      },
    ],
    events: [{ at, of: `PodGang/${name}`, warning: false, reason: 'Waiting', note: why, count: 2 }],
    eventsLeft: 3,
    eventsUnread: null,
  };
}

/** A plan by which others would make room. */
export const planFor = (gang: string, variant: PlannedGang['variant'] = 'kep'): PlanAnswer => ({
  at: '2026-01-01T00:00:02Z',
  says: `gang ml/${gang} (priority 5) would fit if 1 Pod (ml/web, priority 0) made room; nothing else is touched`,
  plan: {
    ...{
      variant,
      fits: false,
      feasible: true,
      placement: { [`ml/${gang}-0`]: 'node-1' },
      awaited: [],
      rejected: [],
    },
    victims: [
      {
        ...{ unit: 'Pod', namespace: 'ml', name: 'web', priority: 0, pods: ['ml/web'], violatesPDB: false },
        why: 'the gang does not fit with it',
      },
    ],
  },
});

/** A dashboard whose gangs a test sets. */
export class DashboardOfGangs {
  /** GPUs that gated Pods ask for, by the name of the gang. */
  readonly gpus = new Map<string, number>();
  readonly live = new LiveGangs(({ name }) => this.gpus.get(name) ?? 0);
  readonly #gangs = new Map<string, GangStatus>();
  #server: DashboardServer | undefined;
  detail = detailOf;
  /** What the next request for queues fails with. */
  queuesFail: Error | undefined;
  /** What requests for plans wait for. */
  planned: (signal: AbortSignal) => Promise<unknown> = () => Promise.resolve();
  members: FleetMembers = {
    absent: 'This is no fleet.',
    schedulerName: 'muster',
    clusters: [],
    bindings: [],
  };
  backends: readonly BackendStatus[] = [];

  static async start(gangs: readonly GangStatus[] = []): Promise<DashboardOfGangs> {
    const dashboard = new DashboardOfGangs();
    dashboard.set(gangs);
    dashboard.#server = await startDashboard(
      {
        live: dashboard.live,
        gang: (namespace, name) => {
          const gang = dashboard.live.get(namespace, name);
          return Promise.resolve(gang && dashboard.detail(gang));
        },
        plan: async (namespace, name, { variant, signal }) => {
          await dashboard.planned(signal);
          return dashboard.live.get(namespace, name) && planFor(name, variant);
        },
        queues: () =>
          dashboard.queuesFail === undefined
            ? Promise.resolve({ queues: [], waiting: [] })
            : Promise.reject(dashboard.queuesFail),
        fleet: () => Promise.resolve(dashboard.members),
        backends: () => Promise.resolve({ backends: dashboard.backends }),
      },
      0,
    );
    return dashboard;
  }

  get address(): string {
    return this.#server?.address ?? '';
  }

  get port(): number {
    return Number(new URL(this.address).port);
  }

  set(gangs: readonly GangStatus[], trouble?: Trouble): void {
    this.#change(
      gangs.map((gang) => {
        const { namespace, name } = gang;
        const old = this.#gangs.get(name);
        this.#gangs.set(name, gang);
        return { namespace, name, old, new: gang };
      }),
      trouble,
    );
  }

  remove(name: string): void {
    const old = this.#gangs.get(name);
    this.#gangs.delete(name);
    this.#change([{ namespace: old?.namespace ?? 'ml', name, old, new: undefined }]);
  }

  #change(changed: readonly Changed[], trouble?: Trouble): void {
    const question = { gang: undefined, namespace: undefined };
    this.live.show({ question, gangs: [...this.#gangs.values()], trouble, now: 0 }, changed);
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }
}
