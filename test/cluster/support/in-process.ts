import type { WebhookServerOptions } from '../../../src/server/webhook-server.ts';
import type { BackendFactory } from '../../../src/backends/backend.ts';
import { builtInBackends } from '../../../src/backends/registry.ts';
import { policyFrom } from '../../../src/cli/input/policy.ts';
import { loadConfiguration } from '../../../src/config/load.ts';
import { startProgram, type ServerProgram } from '../../../src/server/program.ts';
import { observeLines } from '../../support/observed.ts';
import { createLogger } from '../../../src/telemetry/log.ts';

/** Muster in this process, so that a test can hold up its decisions or give it a broken backend. */
export async function inProcess(
  certificates: string,
  given: {
    settings?: object;
    factories?: readonly BackendFactory[];
    overrides?: Partial<Pick<WebhookServerOptions, 'beforeDecision' | 'times'>>;
    lines?: string[];
  } = {},
): Promise<ServerProgram> {
  const factories = given.factories ?? builtInBackends;
  const { configuration } = loadConfiguration({
    text: JSON.stringify({
      apiVersion: 'operator.config.grove.io/v1alpha1',
      kind: 'OperatorConfiguration',
      scheduler: {
        profiles: [
          { name: 'kai-scheduler', config: { queue: 'default-queue' } },
          { name: 'default-scheduler' },
        ],
        defaultProfileName: 'kai-scheduler',
      },
      ...given.settings,
    }),
    env: {},
    flags: {
      'server.webhooks.serverCertDir': certificates,
      'server.webhooks.port': 0,
      'server.healthProbes.port': 0,
      'server.metrics.port': 0,
    },
    supportedSchedulers: factories.map(({ name }) => name),
  });
  return startProgram({
    configuration,
    policy: policyFrom(configuration, { factories }),
    log: createLogger({
      level: 'info',
      format: 'json',
      sink: {
        write: (line) => {
          observeLines([line]);
          given.lines?.push(line);
        },
      },
    }),
    build: { version: 'test' },
    now: () => new Date(),
    ...(given.overrides && { overrides: given.overrides }),
  });
}
