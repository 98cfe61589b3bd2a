import type { OperatorConfiguration } from '../../config/configuration.ts';
import type { GangView } from '../../controller/watch/gang-view.ts';
import type { DashboardData } from '../../dashboard/dashboard-app.ts';
import { gangDetail } from '../../dashboard/gang-detail.ts';
import type { Onlooker } from '../../dashboard/gang-stream.ts';
import type { LiveGangs } from '../../dashboard/live-gangs.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { backendsStatus } from '../../status/backend-status.ts';
import { fleetMembers } from '../../status/fleet-members.ts';
import { fleetStatus } from '../../status/fleet-status.ts';
import type { GangStatus } from '../../status/gang-status.ts';
import type { CliIo } from '../output/io.ts';
import type { ConfiguredJudge } from '../status/configured-judge.ts';
import { gangPlan } from './gang-plan.ts';

/** Answers that take requests, each with the rights of whoever asks. */
export function dashboardAnswers(given: {
  readonly live: LiveGangs;
  readonly view: () => GangView | undefined;
  readonly judge: ConfiguredJudge;
  readonly io: CliIo;
  /** Calls with the client of whoever asks. */
  readonly asUser: <T>(ask: (client: KubeClient) => Promise<T>) => Promise<T>;
  /** Calls with a client of the API server that has the fleet's queues. */
  readonly ofFleet: <T>(
    ask: (client: KubeClient, settings: OperatorConfiguration['fleet']) => Promise<T>,
  ) => Promise<T>;
  /** undefined: the gangs were read with the rights of whoever asks. */
  readonly onlooker?: Onlooker;
}): Omit<DashboardData, 'live'> {
  const { live, judge, io, asUser, ofFleet, onlooker } = given;
  const seen = (namespace: string, name: string): GangStatus | undefined =>
    onlooker?.sees(namespace) === false ? undefined : live.get(namespace, name);
  return {
    gang: async (namespace, name) => {
      const gang = seen(namespace, name);
      const view = given.view();
      if (gang === undefined || view === undefined) return undefined;
      const { registry } = judge;
      return asUser((client) => gangDetail(gang, { client, view, registry, now: io.now().getTime() }));
    },
    plan: async (namespace, name, asked) => {
      const gang = seen(namespace, name);
      if (gang === undefined) return undefined;
      const { exemptNamespaces } = judge;
      return asUser((client) => gangPlan(gang, { ...asked, client, exemptNamespaces, now: io.now() }));
    },
    queues: () => ofFleet((fleet, { queues }) => fleetStatus(fleet, io.now(), queues.reserveAfter)),
    fleet: () => ofFleet((fleet, { assigner }) => fleetMembers(fleet, assigner.schedulerName)),
    backends: () => {
      const registry = judge.freshRegistry();
      const gangs = live.byBackend(onlooker);
      return asUser((client) => backendsStatus(client, { registry, unnamed: judge.defaultBackend, gangs }));
    },
  };
}
