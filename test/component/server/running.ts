import { expect } from '@jest/globals';
import { policyFrom } from '../../../src/cli/input/policy.ts';
import { supportedSchedulers } from '../../../src/backends/registry.ts';
import type { Policy } from '../../../src/admission/policy.ts';
import type { GangLookup } from '../../../src/backends/select.ts';
import { loadConfiguration } from '../../../src/config/load.ts';
import { startProgram, type ServerProgram, type ProgramOptions } from '../../../src/server/program.ts';
import { createLogger, type LogFormat } from '../../../src/telemetry/log.ts';
import { issueDevelopmentCertificates } from '../../../src/tls/issue.ts';
import { observeExposition, observeLines } from '../../support/observed.ts';
import { plainDirectory } from '../../unit/tls/mounted-secret.ts';
import { until } from '../../unit/tls/until.ts';
import { MUTATE_POD, golden, reviewText } from './bodies.ts';
import { Wire, httpRequest, type WireAnswer } from './wire.ts';

export { until };

export interface RunningParts extends Pick<
  Partial<ProgramOptions>,
  'overrides' | 'endpoints' | 'now' | 'checks' | 'pollIntervalMs'
> {
  /** By path of the setting, as flags would give them. Ports are free ones, addresses IPv4 loopback. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** YAML of a configuration file. */
  readonly text?: string;
  readonly certDir?: string;
  readonly logFormat?: LogFormat;
  readonly placement?: GangLookup;
  readonly notReady?: Policy['notReady'];
  readonly preparers?: Policy['preparers'];
  readonly hpc?: Policy['hpc'];
}

/** A whole program as `muster serve` starts it, in this process. */
export interface Running {
  readonly program: ServerProgram;
  readonly port: number;
  /** What was logged so far, a line each. */
  readonly lines: string[];
  /** One request on a connection of its own. */
  readonly call: (bytes: string | Buffer) => Promise<WireAnswer>;
  /** A review on a connection of its own. */
  readonly post: (path: string, body: string | Buffer) => Promise<WireAnswer>;
  /** Fails unless a golden review is answered with a patch: the server lives. */
  readonly alive: () => Promise<void>;
  /** The body and status of a path on the probe port. */
  readonly probe: (path: string) => Promise<{ status: number; text: string }>;
  /** The value of one series on the metrics port; 0 where there is none. */
  readonly metric: (series: string) => Promise<number>;
  readonly scrape: () => Promise<string>;
}

const open: { readonly program: ServerProgram; readonly lines: readonly string[] }[] = [];

/** For `afterEach` or `afterAll`. */
export const closeAll = async (): Promise<void> => {
  for (const { program, lines } of open.splice(0)) {
    observeExposition((await program.metrics.expose()).body);
    await program.close();
    observeLines(lines);
  }
};

/** A directory with one certificate for loopback, valid for a day. */
export const developmentCertificates = async (): Promise<string> => {
  const issued = await issueDevelopmentCertificates({
    dnsNames: ['localhost', '127.0.0.1'],
    days: 1,
    now: new Date(),
  });
  return plainDirectory({
    'tls.crt': issued.certificate,
    'tls.key': issued.key,
    'ca.crt': issued.caCertificate,
  });
};
let shared: Promise<string> | undefined;

export async function start(parts: RunningParts = {}): Promise<Running> {
  const certDir = parts.certDir ?? (await (shared ??= developmentCertificates()));
  const { configuration } = loadConfiguration({
    env: {},
    ...(parts.text === undefined ? {} : { text: parts.text }),
    flags: {
      'server.webhooks.serverCertDir': certDir,
      ...Object.fromEntries(
        ['webhooks', 'healthProbes', 'metrics'].flatMap((part) => [
          [`server.${part}.port`, 0],
          [`server.${part}.bindAddress`, '127.0.0.1'],
        ]),
      ),
      ...parts.settings,
    },
    supportedSchedulers: supportedSchedulers().names,
  });
  const lines: string[] = [];
  const log = createLogger({
    level: 'info',
    format: parts.logFormat ?? 'json',
    sink: { write: (line) => void lines.push(...line.split('\n').filter((one) => one !== '')) },
  });
  const { overrides, endpoints, checks, pollIntervalMs } = parts;
  const program = await startProgram({
    configuration,
    policy: {
      ...policyFrom(configuration),
      placement: parts.placement,
      ...(parts.notReady && { notReady: parts.notReady }),
      ...(parts.preparers && { preparers: parts.preparers }),
      ...(parts.hpc && { hpc: parts.hpc }),
    },
    log,
    build: { version: '0.0.0-test', commit: '0123abc', date: '2026-01-02T03:04:05Z' },
    now: parts.now ?? (() => new Date()),
    ...(overrides && { overrides }),
    ...(endpoints && { endpoints }),
    ...(checks && { checks }),
    ...(pollIntervalMs === undefined ? {} : { pollIntervalMs }),
  });
  open.push({ program, lines });
  const port = program.ports.webhooks;

  const call = async (bytes: string | Buffer): Promise<WireAnswer> => {
    const wire = await Wire.open(port);
    try {
      return await wire.send(bytes).answer();
    } finally {
      wire.destroy();
    }
  };
  const post = (path: string, body: string | Buffer): Promise<WireAnswer> => call(httpRequest(path, body));
  const get = async (portOf: number, path: string): Promise<{ status: number; text: string }> => {
    const response = await fetch(`http://127.0.0.1:${portOf}${path}`);
    return { status: response.status, text: await response.text() };
  };
  const scrape = async (): Promise<string> => {
    const { text } = await get(program.ports.metrics, '/metrics');
    observeExposition(text);
    return text;
  };
  return {
    program,
    port,
    lines,
    call,
    post,
    scrape,
    alive: async () => expectGolden(await post(MUTATE_POD, reviewText(golden()))),
    probe: (path) => get(program.ports.health, path),
    metric: async (series) => valueOf(await scrape(), series),
  };
}

/** The value of `name{label="value"}` in an exposition. */
export const valueOf = (exposition: string, series: string): number => {
  const line = exposition.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? 0 : Number(line.slice(series.length + 1));
};

/** The `response` of an answered review. */
export function responseOf(answer: WireAnswer): Record<string, unknown> {
  expect(answer.status).toBe(200);
  const { apiVersion, kind, response, ...rest } = JSON.parse(answer.body) as Record<string, unknown>;
  expect({ apiVersion, kind, rest }).toEqual({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    rest: {},
  });
  return response as Record<string, unknown>;
}

/** V39: a gang Pod is patched. */
export function expectGolden(answer: WireAnswer): void {
  expect(responseOf(answer)).toMatchObject({
    uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
    allowed: true,
    patchType: 'JSONPatch',
  });
}

/** An answer that is no decision: a code, and a `metav1.Status` that says why. */
export function expectStatus(answer: WireAnswer, code: number, message: RegExp): void {
  expect({ status: answer.status, body: JSON.parse(answer.body) as unknown }).toMatchObject({
    status: code,
    body: {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      message: expect.stringMatching(message),
      code,
    },
  });
  expect(answer.headers['content-type']).toBe('application/json');
}
