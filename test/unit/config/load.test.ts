import { writeFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { MusterError } from '../../../src/errors.ts';
import { ConfigurationError, formatFault } from '../../../src/config/config-fault.ts';
import {
  checkConfiguration,
  loadConfiguration,
  type LoadOptions,
  readConfigurationFile,
} from '../../../src/config/load.ts';
import { environmentName, settings } from '../../../src/config/settings.ts';

const supportedSchedulers = ['default-scheduler', 'kai-scheduler'];
const header = 'apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n';

const load = (options: Partial<LoadOptions>) =>
  loadConfiguration({ env: {}, flags: {}, supportedSchedulers, ...options });
const failure = (options: Partial<LoadOptions>): ConfigurationError => {
  try {
    load(options);
  } catch (thrown) {
    if (thrown instanceof ConfigurationError) return thrown;
    throw thrown;
  }
  throw new Error('loaded without a fault');
};
const lines = (text: string): string[] =>
  checkConfiguration(text, { supportedSchedulers }).map((fault) => formatFault(fault, 'f'));

describe('precedence', () => {
  test('flag over environment over file over default', () => {
    const text = `${header}logLevel: error\nlogFormat: text\nserver: {webhooks: {port: 1000, bindAddress: 127.0.0.1}}\n`;
    const { configuration } = load({
      text,
      env: { MUSTER_LOG_LEVEL: 'debug', MUSTER_SERVER_WEBHOOKS_PORT: '2000', MUSTER_LOG_FORMAT: '' },
      flags: { 'server.webhooks.port': '3000', logFormat: undefined, 'leaderElection.enabled': false },
    });
    expect(configuration.logLevel).toBe('debug');
    expect(configuration.logFormat).toBe('text');
    expect(configuration.server.webhooks.port).toBe(3000);
    expect(configuration.server.webhooks.bindAddress).toBe('127.0.0.1');
    expect(configuration.leaderElection.enabled).toBe(false);
    expect(configuration.server.metrics.port).toBe(8080);
  });

  test('without a file', () => {
    const { configuration, warnings } = load({ env: { MUSTER_SCHEDULER_NAME: 'kai-scheduler' } });
    expect(configuration.schedulers.defaultProfileName).toBe('kai-scheduler');
    expect(warnings).toEqual([]);
  });

  test('a stronger schedulerName takes the place of the file’s default profile', () => {
    const text = `${header}scheduler: {profiles: [{name: kai-scheduler}], defaultProfileName: default-scheduler}`;
    const { configuration } = load({ text, env: { MUSTER_SCHEDULER_NAME: 'kai-scheduler' } });
    expect(configuration.schedulers.defaultProfileName).toBe('kai-scheduler');
    expect(load({ text, env: {} }).configuration.schedulers.defaultProfileName).toBe('default-scheduler');
    expect(
      load({ text: `${header}scheduler:`, flags: { schedulerName: 'kai-scheduler' } }).configuration
        .schedulers.defaultProfileName,
    ).toBe('kai-scheduler');
  });

  test('a flag that is no setting is a mistake in the program', () => {
    expect(() => load({ flags: { 'server.port': 1 } })).toThrow(
      new RangeError('no setting is called "server.port"'),
    );
    expect(() => load({ flags: { 'scheduler.profiles[].name': 'x' } })).toThrow(RangeError);
  });
});

describe('environment', () => {
  test('names are derived, and no two settings share one', () => {
    expect(environmentName(['network', 'autoMNNVLEnabled'])).toBe('MUSTER_NETWORK_AUTO_MNNVL_ENABLED');
    expect(environmentName(['server', 'webhooks', 'serverCertDir'])).toBe(
      'MUSTER_SERVER_WEBHOOKS_SERVER_CERT_DIR',
    );
    const names = settings.flatMap(({ environment }) => environment ?? []);
    expect(new Set(names).size).toBe(names.length);
  });

  test('text becomes what the setting wants', () => {
    const { configuration } = load({
      env: {
        MUSTER_TRUSTED_ACCOUNTS: 'system:serviceaccount:muster-system:muster, admin,',
        MUSTER_TOPOLOGY_AWARE_SCHEDULING_ENABLED: 'true',
        MUSTER_LEADER_ELECTION_ENABLED: 'false',
        MUSTER_SERVER_WEBHOOKS_DRAIN_SECONDS: '0.5',
        MUSTER_RUNTIME_CLIENT_CONNECTION_QPS: '-1',
        MUSTER_SERVER_WEBHOOKS_TLS_MIN_VERSION: '1.2',
        MUSTER_LEADER_ELECTION_LEASE_DURATION: '1m',
      },
    });
    expect(configuration.trustedAccounts).toEqual(['system:serviceaccount:muster-system:muster', 'admin']);
    expect(configuration.topologyAwareScheduling.enabled).toBe(true);
    expect(configuration.leaderElection).toMatchObject({ enabled: false, leaseDurationMs: 60_000 });
    expect(configuration.server.webhooks.drain.seconds).toBe(0.5);
    expect(configuration.server.webhooks.tlsMinVersion).toBe('1.2');
    expect(configuration.runtimeClientConnection.qps).toBe(-1);
  });

  test('a bad value names the variable, not the file', () => {
    const text = `${header}server: {webhooks: {port: 1}}\n`;
    const { message } = failure({
      text,
      fileName: 'c.yaml',
      env: {
        MUSTER_SERVER_WEBHOOKS_PORT: 'abc',
        MUSTER_LEADER_ELECTION_ENABLED: 'yes',
        MUSTER_TRUSTED_ACCOUNTS: 'system:serviceaccount:muster-system:muster,system:serviceaccount:x',
      },
      flags: { logLevel: 'loud' },
    });
    expect(message.split('\n').sort()).toEqual([
      'MUSTER_LEADER_ELECTION_ENABLED: error: leaderElection.enabled: must be true or false, not the string "yes"',
      'MUSTER_SERVER_WEBHOOKS_PORT: error: server.webhooks.port: must be a number, not the string "abc"',
      'MUSTER_TRUSTED_ACCOUNTS: error: trustedAccounts[1]: must be of the form system:serviceaccount:<namespace>:<name>',
      'command line: error: logLevel: unsupported value "loud" (supported: debug, info, warn, error)',
    ]);
  });

  test('a variable does not hide that its section in the file is malformed', () => {
    const { message } = failure({
      text: `${header}server: 5\n`,
      fileName: 'c.yaml',
      env: { MUSTER_SERVER_WEBHOOKS_PORT: '1' },
    });
    expect(message).toBe('c.yaml:3:9: error: server: must be a mapping, not the number 5');
  });

  test('what Kubernetes injects for Services is passed over in silence', () => {
    const { warnings, configuration } = load({
      env: {
        MUSTER_SERVICE_HOST: '10.96.0.7',
        MUSTER_SERVICE_PORT: '443',
        MUSTER_SERVICE_PORT_HTTPS: '443',
        MUSTER_PORT: 'tcp://10.96.0.7:443',
        MUSTER_PORT_443_TCP: 'tcp://10.96.0.7:443',
        MUSTER_PORT_443_TCP_PROTO: 'tcp',
        MUSTER_PORT_443_TCP_PORT: '443',
        MUSTER_PORT_443_TCP_ADDR: '10.96.0.7',
        MUSTER_WEBHOOK_SERVICE_HOST: '10.96.0.8',
        MUSTER_WEBHOOK_PORT: 'tcp://10.96.0.8:443',
        // A Service called muster-server-metrics: the name is a setting’s.
        MUSTER_SERVER_METRICS_PORT: 'tcp://10.96.0.9:8080',
        MUSTER_CONFIG: '/etc/muster/config.yaml',
        MUSTERING: 'x',
        HOME: '/root',
      },
    });
    expect(warnings).toEqual([]);
    expect(configuration.server.metrics.port).toBe(8080);
  });

  test.each([
    ['MUSTER_LOGLEVEL', ' (did you mean "MUSTER_LOG_LEVEL"?)'],
    ['MUSTER_SERVER_WEBHOOK_PORT', ' (did you mean "MUSTER_SERVER_WEBHOOKS_PORT"?)'],
    ['MUSTER_CONFG', ' (did you mean "MUSTER_CONFIG"?)'],
    ['MUSTER_ENTIRELY_DIFFERENT_MATTER', ''],
  ])('%s is unknown: a warning', (variable, hint) => {
    expect(load({ env: { [variable]: '9' } }).warnings).toEqual([
      {
        path: '',
        severity: 'warning',
        origin: variable,
        message: `unknown environment variable ${variable}${hint}`,
      },
    ]);
  });
});

describe('places in a file', () => {
  test('every error on a line of its own, in the order of the file', () => {
    const text = `${header}schedulrName: kai
scheduler:
  profiles:
  - name: kai-scheduler
  - config: {}
  - {name: nope}
server:
  webhooks: {prot: 1,
    "port": 70000}
leaderElection:
  resourceName: grove-operator-leader-election
`;
    const { message, faults, code, exitCode, fix } = failure({ text, fileName: 'config.yaml' });
    expect(message.split('\n')).toEqual([
      'config.yaml:3:1: error: schedulrName: unknown key "schedulrName" (did you mean "schedulerName"?)',
      'config.yaml:7:5: error: scheduler.profiles[1].name: is required',
      'config.yaml:8:12: error: scheduler.profiles[2].name: unsupported scheduler "nope" (supported: default-scheduler, kai-scheduler)',
      'config.yaml:10:14: error: server.webhooks.prot: unknown key "prot" (did you mean "port"?)',
      'config.yaml:11:13: error: server.webhooks.port: must be at most 65535',
    ]);
    expect([code, exitCode]).toEqual(['CONFIG_INVALID', 1]);
    expect(fix).toBe(
      'Correct every line above; docs/reference/configuration.md lists all settings with their defaults.',
    );
    expect(faults).toHaveLength(6);
    expect(faults[5]).toMatchObject({ severity: 'warning', line: 13, path: 'leaderElection.resourceName' });
  });

  test.each<[string, string, string[]]>([
    ['nothing', '', ['f:1:1: error: the file is empty: apiVersion and kind are required']],
    ['a comment', '# nothing\n---\n', ['f:1:1: error: the file is empty: apiVersion and kind are required']],
    ['a list', '- 1\n', ['f:1:1: error: must be a mapping with apiVersion and kind, not a list']],
    [
      'no header',
      'logLevel: info\n',
      ['f:1:1: error: apiVersion: is required', 'f:1:1: error: kind: is required'],
    ],
    [
      'a key twice',
      `${header}server:\n  metrics:\n    port: 1\n    port: 2\n`,
      ['f:6:5: error: server.metrics.port: duplicate key "port"'],
    ],
    [
      'a key twice, the last one counts',
      `${header}logLevel: info\nlogLevel: loud\n`,
      [
        'f:4:1: error: logLevel: duplicate key "logLevel"',
        'f:4:11: error: logLevel: unsupported value "loud" (supported: debug, info, warn, error)',
      ],
    ],
    [
      'a key twice in a list',
      `${header}scheduler: {profiles: [{name: kai-scheduler, name: kai-scheduler}]}`,
      ['f:3:46: error: scheduler.profiles[0].name: duplicate key "name"'],
    ],
    [
      'two documents',
      `${header}---\n${header}`,
      ['f:3:1: error: more than one document: a configuration is a single one'],
    ],
    ['an empty second document', `---\n${header}---\n`, []],
    [
      'broken flow',
      `${header}server: [1`,
      [
        'f:3:11: error: not YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
      ],
    ],
    [
      'tabs',
      `${header}server:\n\tmetrics: {}`,
      ['f:4:1: error: not YAML: Tabs are not allowed as indentation'],
    ],
    ['broken JSON', '{"apiVersion":1', ['f:1:16: error: not YAML: Flow map must end with a }']],
    ['a dangling alias', `${header}server: *x`, ['f:3:9: error: not YAML: alias *x names no anchor']],
    [
      'a circular alias',
      `${header}metadata: &a {x: *a}`,
      ['f:3:18: error: not YAML: alias *a contains itself'],
    ],
    [
      'an alias bomb',
      `a: &a [1,1]\nb: &b [${'*a,'.repeat(20)}]\nc: [${'*b,'.repeat(20)}]\n`,
      ['f:1:1: error: not YAML: its aliases unfold to more than any manifest needs'],
    ],
    [
      'through an alias',
      `${header}metadata: {x: &w {port: 0x1ffff}}\nserver: {webhooks: *w}`,
      ['f:3:25: error: server.webhooks.port: must be at most 65535'],
    ],
    [
      'through a merge',
      `${header}metadata: {x: &w {port: -1}}\nserver:\n  webhooks:\n    <<: *w\n`,
      ['f:5:3: error: server.webhooks.port: must be at least 0'],
    ],
    [
      'keys that are no strings',
      `${header}1: 2\n`,
      ['f:3:1: error: ["1"]: unknown key "1" (this version of Muster has no such setting; another one may)'],
    ],
    [
      'a mapping as a key',
      `${header}? {a: 1}\n: 2\n`,
      [
        'f:1:1: error: ["{ a: 1 }"]: unknown key "{ a: 1 }" (this version of Muster has no such setting; another one may)',
      ],
    ],
    [
      'a binary value',
      `${header}logLevel: !!binary aW5mbw==\n`,
      ['f:3:20: error: logLevel: must be one of debug, info, warn, error, not a mapping'],
    ],
    [
      'JSON',
      '{"apiVersion": "operator.config.grove.io/v1alpha1",\n "kind": "OperatorConfiguration",\n "logLevel": 1}',
      ['f:3:14: error: logLevel: must be one of debug, info, warn, error, not the number 1'],
    ],
  ])('%s', (_, text, expected) => expect(lines(text)).toEqual(expected));

  test('deep nesting is refused, briefly', () => {
    const faults = lines('['.repeat(100_000));
    expect(faults.length).toBeGreaterThan(0);
    expect(faults.length).toBeLessThanOrEqual(10);
  });

  test.each([
    [
      'its length',
      `{}\nlong: ${'x'.repeat(20_000)}`,
      /^not YAML: Unexpected scalar token in YAML stream: "x+…$/,
    ],
    ['what would move a cursor', 'a: b\n"\u001b[2J" x: c', /^not YAML: [^\u001b]+$/],
    ['a stack', '['.repeat(20_000), /^not YAML: it is nested too deeply$/],
  ])('found by fuzzing: what the parser says is told without %s', (_what, text, says) => {
    for (const { message } of checkConfiguration(text, { supportedSchedulers })) {
      expect(message.length).toBeLessThan(300);
      expect(message).not.toMatch(/[\u0000-\u001f]/);
    }
    const messages = checkConfiguration(text, { supportedSchedulers }).map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringMatching(says));
  });

  test('text that is not YAML is unreadable, not invalid', () => {
    const error = failure({ text: 'a: [', env: { MUSTER_LOGLEVEL: 'x' } });
    expect([error.code, error.exitCode]).toEqual(['CONFIG_UNREADABLE', 2]);
    expect(error.message).toMatch(/^configuration:1:5: error: not YAML: /);
    expect(failure({ text: '' }).code).toBe('CONFIG_UNREADABLE');
  });
});

describe('the file itself', () => {
  test('is read', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'muster-config-')), 'config.yaml');
    writeFileSync(file, header);
    expect(readConfigurationFile(file)).toBe(header);
  });
  test('or the reason is told', () => {
    expect(() => readConfigurationFile('/nowhere/config.yaml')).toThrow(MusterError);
    expect(() => readConfigurationFile('/nowhere/config.yaml')).toThrow(
      /^cannot read the configuration file \/nowhere\/config\.yaml: .*ENOENT/,
    );
  });
});

describe('files of Grove users', () => {
  test('the example of the design document', () => {
    const { configuration, warnings } = load({
      text: `${header}metadata:
  name: grove-config
controllers:
  podCliqueSet: {concurrentSyncs: 3}
  podClique: {concurrentSyncs: 3}
schedulerName: "kai-scheduler"
logLevel: info
logFormat: json
topologyAwareScheduling:
  enabled: true
  levels:
  - {domain: zone, key: "topology.kubernetes.io/zone"}
  - {domain: rack, key: "topology.kubernetes.io/rack"}
  - {domain: host, key: "kubernetes.io/hostname"}
`,
    });
    expect(warnings).toEqual([]);
    expect(configuration.schedulers.defaultProfileName).toBe('kai-scheduler');
    expect(configuration.topologyAwareScheduling.levels).toHaveLength(3);
  });

  test('what Grove’s chart renders, every section in use', () => {
    const { configuration, warnings } = load({
      text: `${header}runtimeClientConnection: {qps: 100, burst: 150}
leaderElection:
  enabled: true
  leaseDuration: 15s
  renewDeadline: 10s
  retryPeriod: 2s
  resourceLock: leases
  resourceName: grove-operator-leader-election
  resourceNamespace: grove-system
server:
  webhooks: {port: 9443, serverCertDir: /etc/grove-operator/webhook-certs, secretName: s, certProvisionMode: manual}
  healthProbes: {port: 9444}
  metrics: {port: 9445}
controllers:
  podCliqueSet: {concurrentSyncs: 3}
  podClique: {concurrentSyncs: 3}
  podCliqueScalingGroup: {concurrentSyncs: 3}
  podGang: {concurrentSyncs: 3}
scheduler:
  profiles:
  - name: default-scheduler
  - name: kai-scheduler
debugging: {enableProfiling: false, pprofBindHost: "127.0.0.1", pprofBindPort: 2753}
logLevel: info
logFormat: json
topologyAwareScheduling: {enabled: false}
authorizer:
  enabled: true
  reconcilerServiceAccountUserName: system:serviceaccount:grove-system:grove-operator
  exemptServiceAccountUserNames:
  - system:serviceaccount:kube-system:generic-garbage-collector
network: {autoMNNVLEnabled: false}
featureGates: {podCliqueTopologyAffinity: true}
`,
    });
    expect(warnings.map(({ path }) => path)).toEqual(['leaderElection.resourceName']);
    expect(configuration.schedulers.defaultProfileName).toBe('default-scheduler');
    expect(configuration.server.healthProbes.port).toBe(9444);
  });
});
