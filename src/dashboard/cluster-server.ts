import type { ServerOptions } from 'node:https';
import type { Server } from 'node:tls';
import { Refused } from './access.ts';
import { ClusterAccess, SESSION_PATH, SIGN_IN } from './cluster-access.ts';
import { dashboardApp, JSON_TYPE, listen, type DashboardData } from './dashboard-app.ts';
import type { LiveGangs } from './live-gangs.ts';
import type { UserSight, UserSights } from './user-sight.ts';

/** Milliseconds between two looks at what a user who follows the gangs may see. */
const LOOK_MS = 1_000;

/** A dashboard in a cluster: of many users, each of whom sees what he may see. */
export interface ClusterDashboard {
  readonly live: LiveGangs;
  readonly sights: UserSights;
  /** What is asked with the rights of a token, for the gangs that its user sees. */
  asked(token: string, sight: UserSight): Omit<DashboardData, 'live'>;
  readonly hosts: readonly string[];
  readonly tls: ServerOptions | undefined;
  readonly now: () => number;
}

/** @throws MusterError LISTEN_FAILED */
export async function startClusterDashboard(
  dashboard: ClusterDashboard,
  host: string,
  port: number,
): Promise<{ readonly server: Server; readonly port: number; close(): Promise<void> }> {
  const { live, sights, tls } = dashboard;
  const access = new ClusterAccess(dashboard.hosts, dashboard.now);
  const sightOf = async (token: string): Promise<UserSight> => {
    try {
      const sight = await sights.of(token, live.namespaces());
      access.judged(token, false);
      return sight;
    } catch (thrown) {
      if (isSignIn(thrown)) access.judged(token, true);
      throw thrown;
    }
  };
  const app = dashboardApp({
    tls,
    signsIn: true,
    refusal: (request) => access.refusal(request),
    dataFor: async (headers) => {
      const token = access.token(headers);
      const sight = await sightOf(token);
      return {
        ...dashboard.asked(token, sight),
        live: {
          list: () => live.list(sight),
          stream: (response) => follow(live, () => sightOf(token), sight, response),
        },
      };
    },
    ways: (ways, page) => {
      ways.get('/', (_request, reply) => page(reply));
      ways.post(SESSION_PATH, async ({ headers }, reply) => {
        const token = access.token(headers);
        await sightOf(token);
        return reply.header('set-cookie', access.begin(token)).type(JSON_TYPE).send('{}');
      });
      ways.delete(SESSION_PATH, ({ headers }, reply) =>
        reply.header('set-cookie', access.end(headers)).type(JSON_TYPE).send('{}'),
      );
    },
  });
  await listen(app, host, port);
  const { server } = app;
  const taken = server.address();
  return {
    server: server as unknown as Server,
    port: typeof taken === 'object' && taken !== null ? taken.port : port,
    close: () => app.close(),
  };
}

/** Writes the gangs that a user sees, until the user's rights are fewer or the token is over: the browser then asks anew. */
function follow(
  live: LiveGangs,
  sightNow: () => Promise<UserSight>,
  sight: UserSight,
  response: Parameters<LiveGangs['stream']>[0],
): void {
  let now = sight;
  const told = new Set([...live.namespaces()].filter((one) => sight.sees(one)));
  const tell = live.stream(response, { sees: (one) => now.sees(one), narrowed: sight.narrowed });
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    try {
      const namespaces = live.namespaces();
      const next = await sightNow();
      if (!now.isWithin(next)) response.end();
      now = next;
      for (const one of namespaces)
        if (next.sees(one) && !told.has(one)) {
          told.add(one);
          tell(one);
        }
    } catch {
      response.end();
    }
    looking = false;
  };
  const looks = setInterval(() => void look(), LOOK_MS).unref();
  response.on('close', () => clearInterval(looks));
}

const isSignIn = (thrown: unknown): boolean => thrown instanceof Refused && thrown.refusal === SIGN_IN;
