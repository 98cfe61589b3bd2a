import { policyFrom } from '../../src/cli/input/policy.ts';
import { supportedSchedulers } from '../../src/backends/registry.ts';
import { ConfigurationError, type ConfigFault } from '../../src/config/config-fault.ts';
import { checkConfiguration, loadConfiguration, type LoadedConfiguration } from '../../src/config/load.ts';
import { errorCatalogue, MusterError } from '../../src/errors.ts';
import type { Random } from '../support/random.ts';
import { inTime, must, mustBeClean, mustBeUnpolluted, shapeOf, type Target, type Trial } from './target.ts';
import { written } from './yaml-text.ts';

const SCHEDULERS = supportedSchedulers().names;

/** The readers, so that a broken one can take their place. */
export interface Readers {
  readonly load: typeof loadConfiguration;
  readonly check: typeof checkConfiguration;
}
const READERS: Readers = { load: loadConfiguration, check: checkConfiguration };

/** The first line of an input: what comes from elsewhere than the file. */
interface Around {
  readonly env: Readonly<Record<string, string>>;
  readonly flags: Readonly<Record<string, string>>;
}

/** Configurations in YAML and JSON, with variables and flags: accepted, or refused with a code and the field. */
export const configurations: Target = {
  name: 'configurations',
  share: 50,
  reaches: {
    of: 1_500,
    words: [
      'accepted',
      'accepted as policy',
      'CONFIG_INVALID',
      'CONFIG_UNREADABLE',
      'USAGE',
      'refused as policy',
      'fault: unknown key "…" (did you mean "…"?)',
      'fault: duplicate key "…"',
      'fault: more than one document: a configuration is a single one',
      'fault: unsupported scheduler "…" (supported: default-scheduler, kai',
      'fault: must be a duration such as "…" or "…"',
    ],
  },
  open: () => Promise.resolve(openConfigurations()),
};

export const openConfigurations = (readers: Readers = READERS): Trial => ({
  width: 1,
  make: (random) => {
    const text = written(tree(random), random);
    return Buffer.concat([Buffer.from(`${JSON.stringify(around(random))}\n`), text]);
  },
  attempt: async (input) => {
    const end = input.indexOf('\n');
    const { env, flags } = JSON.parse(input.toString('utf8', 0, end)) as Around;
    const text = input.toString('utf8', end + 1);
    const words = await inTime(() => judge(text, { env, flags }, readers));
    mustBeUnpolluted();
    return words;
  },
  close: () => Promise.resolve(),
});

function judge(text: string, { env, flags }: Around, { load, check }: Readers): string[] {
  const faults = check(text, { supportedSchedulers: SCHEDULERS });
  faults.forEach((fault) => judgeFault(fault, text));
  const words = faults.map(({ message }) => `fault: ${shapeOf(message)}`);
  let loaded: LoadedConfiguration;
  try {
    loaded = load({ text, env, flags, supportedSchedulers: SCHEDULERS, fileName: 'config.yaml' });
  } catch (thrown) {
    must(thrown instanceof ConfigurationError, () => `no error of ours: ${String(thrown)}`);
    must(
      Object.hasOwn(errorCatalogue, thrown.code) && thrown.fix !== '',
      'a code of no catalogue, or no way out',
    );
    must(
      thrown.faults.some(({ severity }) => severity === 'error'),
      'refused for no error',
    );
    thrown.faults.forEach((fault) => judgeFault(fault, text));
    return [...words, thrown.code];
  }
  loaded.warnings.forEach((fault) => judgeFault(fault, text));
  if (Object.keys(env).length + Object.keys(flags).length === 0)
    must(
      faults.every(({ severity }) => severity === 'warning'),
      'loaded in spite of an error',
    );
  return [...words, 'accepted', ...judgePolicy(loaded)];
}

/** What a message has only by mistake, or by quoting the file. */
const RAW = /\bat .*\.[tj]s:|undefined|\[object Object\]|Cannot read prop|is not a function/g;

/** Text, a place within the file, and the field or the file as a whole. */
function judgeFault({ path, message, line, column, origin }: ConfigFault, text: string): void {
  must(message !== '' && message.length < 1_000, () => `the message ${JSON.stringify(message)}`);
  const isQuoted = ([words]: readonly string[]): boolean => words !== undefined && text.includes(words);
  must([...message.matchAll(RAW)].every(isQuoted), () => `a raw message: ${message}`);
  must(
    path !== '' || line !== undefined || origin !== undefined,
    `a fault of no field and no place: ${message}`,
  );
  if (line === undefined) return;
  must(line >= 1 && line <= text.split(/\r\n|\r|\n/).length + 1, `line ${line} of ${path}: ${message}`);
  must(column !== undefined && column >= 1, `column ${column} of ${path}`);
}

/** What was accepted can be worked by, or the backend says what is wrong. */
function judgePolicy({ configuration }: LoadedConfiguration): string[] {
  try {
    const { registry } = policyFrom(configuration);
    must(registry.default.name !== '', 'no default backend');
    return ['accepted as policy'];
  } catch (thrown) {
    must(
      thrown instanceof MusterError && thrown.code.startsWith('BACKEND_'),
      () => `no error of ours: ${String(thrown)}`,
    );
    mustBeClean(thrown.message, `the message of ${thrown.code}`);
    return ['refused as policy'];
  }
}

const ODD: readonly [string, ...string[]] = [
  '',
  '0',
  '-1',
  '1e3',
  'true',
  'no',
  'x',
  '99999999999',
  '\u001b[31m',
  '../..',
  '1,2,,3',
  ' ',
  '5s',
  '\ud800',
];

function around(random: Random): Around {
  if (random.chance(75)) return { env: {}, flags: {} };
  const value = (): string => random.pick(ODD);
  const variables = [
    'MUSTER_LOG_LEVEL',
    'MUSTER_SERVER_WEBHOOKS_PORT',
    'MUSTER_SCHEDULER_NAME',
    'MUSTER_TRUSTED_ACCOUNTS',
    'MUSTER_NONSENSE',
    'MUSTER_PORT_443_TCP_ADDR',
    '__proto__',
  ] as const;
  return {
    env: Object.fromEntries(random.list(2, () => [random.pick(variables), value()] as const)),
    flags: Object.fromEntries(
      random.list(
        2,
        () =>
          [
            random.pick([
              'server.webhooks.port',
              'server.webhooks.serverCertDir',
              'server.metrics.port',
              'logLevel',
              'schedulerName',
            ] as const),
            value(),
          ] as const,
      ),
    ),
  };
}

const seldom = <T>(random: Random, usual: T, ...others: [T, ...T[]]): T =>
  random.chance(4) ? random.pick(others) : usual;
const name = (random: Random): string =>
  seldom(
    random,
    random.pick(['default-scheduler', 'kai-scheduler', 'volcano', 'scheduler-plugins-scheduler']),
    'slurm',
    '',
    'grove-scheduler',
    '__proto__',
  );
const duration = (random: Random): unknown =>
  seldom<unknown>(
    random,
    random.pick(['15s', '10s', '2s', '1m30s', '500ms']),
    '5',
    5,
    '-1s',
    '1h1h',
    '∞',
    '9999999999h',
  );
const port = (random: Random): unknown =>
  seldom<unknown>(random, 1024 + random.below(60_000), 0, -1, 65536, '9443', 1.5);

/** A configuration as somebody may write it: most of it valid, each part there or not. */
export function tree(random: Random): unknown {
  // Now and then one of which nothing but a backend has anything to say.
  if (random.chance(8))
    return {
      apiVersion: 'operator.config.grove.io/v1alpha1',
      kind: 'OperatorConfiguration',
      scheduler: {
        profiles: [
          {
            name: 'kai-scheduler',
            config: { [random.pick(['queue', 'x'])]: random.pick<unknown>([5, 'research', []]) },
          },
        ],
      },
    };
  const some = (fields: Record<string, () => unknown>): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([key, make]) => (random.chance(25) ? [[key, make()]] : [])),
    );
  const config = (): unknown =>
    random.pick<unknown>([
      {},
      { queue: 'research' },
      { queue: '' },
      { queue: 5 },
      { nonsense: true },
      { layout: 'per-group' },
      { minResources: { cpu: 'x' } },
      [],
    ]);
  const selector = (): unknown =>
    random.pick<unknown>([
      {},
      { matchLabels: { a: 'b' } },
      { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
      { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] },
      { matchLabels: { 'a b': 5 } },
    ]);
  return {
    ...(random.chance(97)
      ? { apiVersion: 'operator.config.grove.io/v1alpha1', kind: 'OperatorConfiguration' }
      : {}),
    ...some({
      metadata: () => ({ name: 'x', labels: {} }),
      schedulerName: () => name(random),
      scheduler: () =>
        some({
          profiles: () =>
            random.list(4, () => ({
              name: name(random),
              ...some({
                config,
                module: () => random.pick(['./x.js', '', 'line']),
                integrity: () => 'sha256-x',
              }),
            })),
          defaultProfileName: () => name(random),
        }),
      logLevel: () => seldom<unknown>(random, 'info', 'trace', 5, ''),
      logFormat: () => seldom<unknown>(random, 'json', 'yaml'),
      controllers: () =>
        some({
          podGang: () =>
            some({
              concurrentSyncs: () => seldom(random, 5, 0, -1),
              namespaceSelector: selector,
              objectSelector: selector,
            }),
        }),
      topologyAwareScheduling: () => ({
        enabled: seldom<unknown>(random, true, 'yes'),
        levels: random.list(4, () => ({
          domain: random.pick(['zone', 'rack', 'host', '']),
          key: random.pick(['a/b', 'topology.kubernetes.io/zone', 'x y', '']),
        })),
      }),
      leaderElection: () =>
        some({
          enabled: () => true,
          leaseDuration: () => duration(random),
          renewDeadline: () => duration(random),
          retryPeriod: () => duration(random),
          resourceName: () => seldom(random, 'lease', '', 'A b'),
        }),
      server: () =>
        some({
          webhooks: () =>
            some({
              port: () => port(random),
              bindAddress: () => seldom<unknown>(random, '127.0.0.1', 'localhost', '::1', '300.1.1.1'),
              serverCertDir: () => seldom(random, '/certs', ''),
              tlsMinVersion: () => seldom<unknown>(random, '1.3', 1.3, '1.1'),
              clientCertificate: () => ({ caFile: '/ca.crt', allowedNames: random.pick([['a'], [], ['']]) }),
              limits: () =>
                some({ maxBodyBytes: () => seldom(random, 1_000_000, 0, -5, 1e18), maxInFlight: () => 5 }),
              drain: () => some({ seconds: () => random.below(200), maxSeconds: () => random.below(200) }),
            }),
          metrics: () => some({ port: () => port(random) }),
          healthProbes: () => some({ port: () => port(random) }),
        }),
      trustedAccounts: () =>
        random.list(3, () => random.pick(['a', '', 'system:masters', 'system:serviceaccount:a:b'])),
      preemption: () =>
        some({
          preview: () => seldom<unknown>(random, true, 'on'),
          previewNames: () => seldom<unknown>(random, 'All', 'own'),
        }),
      runtimeClientConnection: () =>
        some({ qps: () => seldom<unknown>(random, -1, 0, 'x'), burst: () => seldom(random, 5, -5) }),
      featureGates: () => ({ A: true, B: seldom<unknown>(random, false, 'x') }),
      network: () => random.pick<unknown>([{}, { autoMNNVLEnabled: true }, { x: 1 }]),
      ...(random.chance(5) ? { loglevel: () => 'info' } : {}),
    }),
  };
}
