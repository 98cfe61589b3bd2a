import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { formatPath } from '../../../src/config/config-fault.ts';
import { checkConfiguration, loadConfiguration } from '../../../src/config/load.ts';
import { knownKeys, settings } from '../../../src/config/settings.ts';
import { quoted } from '../../../src/text/printable.ts';

const supportedSchedulers = ['default-scheduler', 'kai-scheduler', 'volcano'];
const header = { apiVersion: 'operator.config.grove.io/v1alpha1', kind: 'OperatorConfiguration' };
const read = (text: string) => loadConfiguration({ text, env: {}, flags: {}, supportedSchedulers });

const some = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(fields, { requiredKeys: [] });
const word = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
const syncs = some({ concurrentSyncs: fc.integer({ min: 1, max: 1000 }) });
const bindAddress = fc.oneof(fc.constant(''), fc.ipV4(), fc.ipV6());

const schedulers = fc.subarray(supportedSchedulers, { minLength: 1 }).chain((names) =>
  fc.record(
    {
      profiles: fc.constant(names.map((name) => ({ name, config: { [name]: [1, null, 'x'] } }))),
      defaultProfileName: fc.constantFrom(...names),
    },
    { requiredKeys: ['profiles'] },
  ),
);

const document = some({
  metadata: fc.record({ name: word }),
  scheduler: schedulers,
  logLevel: fc.constantFrom('debug', 'info', 'error'),
  logFormat: fc.constantFrom('json', 'text'),
  controllers: some({ podGang: syncs, podClique: syncs, podCliqueSet: syncs, podCliqueScalingGroup: syncs }),
  topologyAwareScheduling: some({
    enabled: fc.boolean(),
    levels: fc
      .uniqueArray(word, { maxLength: 4 })
      .map((words) => words.map((name) => ({ domain: name, key: `example.com/${name}` }))),
  }),
  leaderElection: some({
    enabled: fc.boolean(),
    leaseDuration: fc.integer({ min: 11, max: 600 }).map((seconds) => `${seconds}s`),
    renewDeadline: fc.integer({ min: 2401, max: 10_000 }).map((milliseconds) => `${milliseconds}ms`),
    retryPeriod: fc.integer({ min: 1, max: 2000 }).map((milliseconds) => `${milliseconds}ms`),
    resourceName: word,
  }),
  server: some({
    webhooks: some({
      port: fc.integer({ min: 1, max: 999 }),
      bindAddress,
      tlsMinVersion: fc.constantFrom('1.2', '1.3'),
      clientCertificate: fc.record({ caFile: word, allowedNames: fc.array(word, { minLength: 1 }) }),
      limits: some({
        maxBodyBytes: fc.integer({ min: 1, max: 67_108_864 }),
        maxInFlight: fc.integer({ min: 1 }),
      }),
      drain: some({
        seconds: fc.integer({ min: 0, max: 100 }),
        maxSeconds: fc.integer({ min: 100, max: 900 }),
      }),
    }),
    healthProbes: some({ port: fc.integer({ min: 1000, max: 1999 }), bindAddress }),
    metrics: some({ port: fc.integer({ min: 2000, max: 2999 }), bindAddress }),
  }),
  trustedAccounts: fc.array(fc.string({ minLength: 1 }).filter((name) => !name.startsWith('system:'))),
  featureGates: fc.dictionary(word, fc.boolean()),
});

test('any valid document loads, says the same as YAML and as JSON', () => {
  fc.assert(
    fc.property(document, (body) => {
      const written = { ...header, ...body };
      const { configuration } = read(stringify(written));
      expect(read(JSON.stringify(written)).configuration).toEqual(configuration);
      expect(configuration).toMatchObject({
        ...(body.logLevel === undefined ? {} : { logLevel: body.logLevel }),
        ...(body.server === undefined ? {} : { server: body.server }),
        ...(body.trustedAccounts === undefined ? {} : { trustedAccounts: body.trustedAccounts }),
      });
    }),
    { numRuns: 150 },
  );
});

const sections: string[][] = [
  [],
  ['server'],
  ['server', 'webhooks'],
  ['server', 'webhooks', 'drain'],
  ['leaderElection'],
  ['controllers', 'podGang'],
  ['network'],
];

test('an unknown key is always told, with its path and its line', () => {
  fc.assert(
    fc.property(fc.constantFrom(...sections), fc.string({ minLength: 1 }), (section, key) => {
      fc.pre(!knownKeys(section).includes(key) && key !== '<<');
      // fromEntries makes `__proto__` an own key, as a YAML reader does.
      const inner: unknown = section.reduceRight<unknown>(
        (value, name) => ({ [name]: value }),
        Object.fromEntries([[key, 1]]),
      );
      const lines = Object.entries({ ...header, ...(section.length > 0 ? (inner as object) : {}) });
      const text = `${stringify(Object.fromEntries(lines))}${section.length > 0 ? '' : `${JSON.stringify(key)}: 1\n`}`;
      const faults = checkConfiguration(text, { supportedSchedulers });
      expect(faults).toHaveLength(1);
      expect(faults[0]).toMatchObject({
        path: formatPath([...section, key]),
        line: 3 + section.length,
        severity: 'error',
      });
      expect(faults[0]?.message.startsWith(`unknown key ${quoted(key)}`)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('no text makes it throw anything but its own error', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.json(), fc.string({ unit: fc.constantFrom(...'a:-{}[]&*!|>\'"%@ \n\t#,?') })),
      (text) => {
        expect(Array.isArray(checkConfiguration(text, { supportedSchedulers }))).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

/** `value` at the path of a setting, `scheduler.profiles[].name`, in every entry of a list of two. */
const withSetting = (path: string, value: unknown): object => {
  const [first = '', ...rest] = path.split('.');
  const inner = rest.length === 0 ? value : withSetting(rest.join('.'), value);
  return first.endsWith('[]') ? { [first.slice(0, -2)]: [inner, inner] } : { [first]: inner };
};

const long = fc
  .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }), fc.integer({ min: 1, max: 500 }))
  .map(([part, times]) => part.repeat(times));
const anyValue = fc.oneof(
  long,
  fc.array(long, { maxLength: 3 }),
  fc.dictionary(long, long, { maxKeys: 2 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constant(null),
);

/** A message names one value or two, each of at most 80 characters, and one list of at most 256. */
const LONGEST_MESSAGE = 700;

test('no value makes a message long, or puts a control character into it', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.constantFrom(...settings), { minLength: 1, maxLength: 3 }),
      anyValue,
      (some, value) => {
        const document = some.reduce<object>(
          (whole, { path }) => ({ ...whole, ...withSetting(path, value) }),
          header,
        );
        for (const { message, path } of checkConfiguration(JSON.stringify(document), {
          supportedSchedulers,
          actsFor: ['volcano', ...(typeof value === 'string' ? [value] : [])],
        })) {
          expect(message.length).toBeLessThan(LONGEST_MESSAGE);
          expect(path.length).toBeLessThan(LONGEST_MESSAGE);
          expect(`${path}${message}`).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e]/);
        }
      },
    ),
    { numRuns: 300 },
  );
});
