import type { AddressInfo } from 'node:net';
import { Access, Refused } from './access.ts';
import { dashboardApp, listen, type DashboardData } from './dashboard-app.ts';

export interface DashboardServer {
  /** With the token. */
  readonly address: string;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

/** The dashboard of whoever starts it, for the browsers of this machine. @param port 0: any free one. @throws MusterError LISTEN_FAILED */
export async function startDashboard(data: DashboardData, port: number): Promise<DashboardServer> {
  const taken = (): number => (app.server.address() as AddressInfo).port;
  const access = new Access(taken);
  const app = dashboardApp({
    signsIn: false,
    refusal: ({ method, headers }) => access.refusal(method, headers),
    dataFor: (headers) => {
      const refused = access.dataRefusal(headers);
      return refused === undefined ? Promise.resolve(data) : Promise.reject(new Refused(refused));
    },
    ways: (ways, page) =>
      ways.get<{ Querystring: { token?: string | string[] } }>('/', ({ query: { token } }, reply) => {
        if (token === undefined) return page(reply);
        const cookie = access.exchange(String(token));
        if (typeof cookie === 'object') throw new Refused(cookie);
        return reply.header('set-cookie', cookie).redirect('/', 303);
      }),
  });
  await listen(app, HOST, port);
  return { address: `http://${HOST}:${taken()}/?token=${access.token}`, close: () => app.close() };
}
