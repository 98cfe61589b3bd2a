import type { Server } from 'node:tls';
import { startClusterDashboard } from '../../dashboard/cluster-server.ts';
import { UserSights, type UserSight } from '../../dashboard/user-sight.ts';
import { MusterError } from '../../errors.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Connection } from '../../kube/client/connection.ts';
import { findConnection } from '../../kube/client/find-connection.ts';
import { createKubeClient } from '../../kube/client/http-client.ts';
import { applyPair, tlsServerOptions } from '../../tls/options.ts';
import { CertificateReloader } from '../../tls/reload.ts';
import { verbConfiguration } from '../input/configured.ts';
import type { ClusterFlags } from '../input/shared-options.ts';
import { dashboardAnswers } from './dashboard-answers.ts';

const EVERY_ADDRESS = '0.0.0.0';
const PORT = 8443;
/** What a browser asks for through kubectl port-forward. */
const HOSTS = [`localhost:${PORT}`];
const TLS = { minVersion: 'TLSv1.2' } as const;

/** Flags that only a dashboard in a cluster has. */
export interface InClusterFlags {
  readonly inCluster?: boolean;
  readonly host?: readonly string[];
  readonly certDir?: string;
  readonly behindTlsProxy?: boolean;
}

/** @throws MusterError USAGE where the flags do not go together */
export function checkInCluster(flags: InClusterFlags & { readonly namespace?: string }): void {
  const { inCluster = false, host, certDir, behindTlsProxy = false, namespace } = flags;
  const wrong = (message: string, fix: string): never => {
    throw new MusterError('USAGE', message, fix);
  };
  if (!inCluster && (host !== undefined || certDir !== undefined || behindTlsProxy))
    wrong(
      '--host, --cert-dir and --behind-tls-proxy are for a dashboard in a cluster',
      'add --in-cluster, or leave them out',
    );
  if (inCluster && (certDir === undefined) !== behindTlsProxy)
    wrong(
      'tokens must not cross the network in the clear',
      'give either --cert-dir, or --behind-tls-proxy where a proxy in front of it ends TLS',
    );
  if (inCluster && namespace !== undefined)
    wrong('--namespace does not go with --in-cluster: each user sees what he may see', 'leave it out');
}

type AnswersGiven = Parameters<typeof dashboardAnswers>[0];

/** Serves the page to the users of the cluster, each with his own rights, until the promise of `until` ends. */
export async function dashboardInCluster(
  flags: InClusterFlags & ClusterFlags & { readonly port?: number; readonly config?: string | undefined },
  given: Pick<AnswersGiven, 'live' | 'view' | 'judge' | 'io'> & { readonly until: Promise<void> },
): Promise<void> {
  const { live, view, judge, io, until } = given;
  const { config, kubeconfig, context } = flags;
  const own = await findConnection({ kubeconfig, context, env: io.env });
  const asUser = async <T>(token: string, ask: (client: KubeClient) => Promise<T>): Promise<T> => {
    const client = createKubeClient(withToken(own, token));
    try {
      return await ask(client);
    } finally {
      await client.close();
    }
  };
  const { fleet } = verbConfiguration({ file: config, env: io.env }).configuration;
  const now = (): number => io.now().getTime();
  const sights = new UserSights(asUser, now);
  const asked = (token: string, onlooker: UserSight) =>
    dashboardAnswers({
      ...{ live, view, judge, io, onlooker },
      asUser: (ask) => sights.asUser(token, ask),
      ofFleet: (ask) => {
        if (fleet.kubeconfig !== undefined) throw elsewhere();
        return sights.asUser(token, (client) => ask(client, fleet));
      },
    });
  let server: Server | undefined;
  const directory = flags.certDir;
  const reloader =
    directory === undefined
      ? undefined
      : new CertificateReloader({
          directory,
          now: () => io.now(),
          onSwap: (pair) => server && applyPair(server, pair, TLS),
          log: {
            info: () => undefined,
            warn: (fields, text) => io.stderr(`warning: ${text}: ${JSON.stringify(fields)}\n`),
          },
        });
  const pair = await reloader?.start();
  try {
    const hosts = flags.host ?? HOSTS;
    const dashboard = await startClusterDashboard(
      {
        live,
        asked,
        hosts,
        now,
        sights,
        tls: pair && tlsServerOptions({ pair, ...TLS }),
      },
      EVERY_ADDRESS,
      flags.port ?? PORT,
    );
    server = dashboard.server;
    // It may have been renewed since the start.
    if (reloader !== undefined) applyPair(server, reloader.current, TLS);
    try {
      io.stderr(`the dashboard listens on port ${dashboard.port}, for ${hosts.join(', ')}\n`);
      await until;
    } finally {
      await dashboard.close();
    }
  } finally {
    await reloader?.stop();
  }
}

/** The same API server with the rights of a token, and no others: no certificate of a kubeconfig goes with it. */
function withToken({ server, tls, namespace }: Connection, token: string): Connection {
  const { cert, key, ...trust } = tls;
  void [cert, key];
  return {
    ...{ server, tls: trust, namespace, source: 'the token of a request' },
    headers: () => Promise.resolve({ authorization: `Bearer ${token}` }),
    refresh: () => false,
  };
}

const elsewhere = (): MusterError =>
  new MusterError(
    'CLUSTER_REFUSED',
    'the fleet’s queues and bindings are on another API server, which does not know your token',
    'Run muster dashboard on your machine, with a kubeconfig of that API server.',
  );
