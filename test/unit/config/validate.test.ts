import { describe, expect, test } from '@jest/globals';
import { formatPath } from '../../../src/config/config-fault.ts';
import { inspect } from '../../../src/config/validate.ts';

const header = { apiVersion: 'operator.config.grove.io/v1alpha1', kind: 'OperatorConfiguration' };
const options = { supportedSchedulers: ['default-scheduler', 'kai-scheduler'] };

const validateConfiguration = (document: unknown) => {
  const { findings, ...rest } = inspect(document, options);
  return {
    ...rest,
    faults: findings.map(({ path, message, severity }) => ({ path: formatPath(path), message, severity })),
  };
};
const faultsOf = (document: unknown): string[] =>
  validateConfiguration(document).faults.map(
    ({ path, message, severity }) => `${severity === 'error' ? '' : 'warning '}${path}: ${message}`,
  );
const faults = (document: object): string[] => faultsOf({ ...header, ...document });

describe('defaults', () => {
  test('an empty document gives every default', () => {
    expect(validateConfiguration(header)).toEqual({
      faults: [],
      configuration: {
        schedulers: {
          profiles: [{ name: 'default-scheduler', config: {} }],
          defaultProfileName: 'default-scheduler',
        },
        logLevel: 'info',
        logFormat: 'json',
        logDecisionsPerSecond: 20,
        controllers: {
          podGang: {
            concurrentSyncs: 256,
            namespaceSelector: { matchLabels: {}, matchExpressions: [] },
            objectSelector: { matchLabels: {}, matchExpressions: [] },
          },
          podCliqueSet: { concurrentSyncs: 10 },
          podClique: { concurrentSyncs: 10 },
          podCliqueScalingGroup: { concurrentSyncs: 5 },
        },
        topologyAwareScheduling: { enabled: false, levels: [] },
        leaderElection: {
          enabled: true,
          leaseDurationMs: 15_000,
          renewDeadlineMs: 10_000,
          retryPeriodMs: 2000,
          resourceLock: 'leases',
          resourceName: 'muster-leader-election',
          resourceNamespace: 'muster-system',
        },
        server: {
          webhooks: {
            port: 9443,
            bindAddress: '',
            serverCertDir: '/etc/muster/certs',
            tlsMinVersion: '1.3',
            limits: {
              maxBodyBytes: 8_388_608,
              maxInFlightBytes: 67_108_864,
              maxInFlight: 256,
              maxConnections: 1024,
            },
            drain: { seconds: 15, maxSeconds: 100 },
            secretName: 'grove-webhook-server-cert',
            certProvisionMode: 'auto',
          },
          certificates: {
            mode: 'files',
            secretName: 'muster-certificates',
            leaf: { duration: '2160h' },
            ca: { duration: '8760h', settle: '1m' },
          },
          healthProbes: { port: 8081, bindAddress: '', enable: true },
          metrics: { port: 8080, bindAddress: '' },
        },
        workloads: [],
        trustedAccounts: ['system:serviceaccount:muster-system:muster'],
        hpc: { enabled: false, preparations: [] },
        preemption: {
          mode: 'Off',
          profiles: [],
          after: '10s',
          overridePodDisruptionBudgets: false,
          limits: { victimsPerPlan: 64, plansPerMinute: 6 },
          exemptNamespaces: ['kube-system'],
          preview: false,
          previewNames: 'Own',
        },
        fleet: {
          interpreter: false,
          assigner: { enabled: false, schedulerName: 'muster', plugins: [] },
          estimators: {
            enabled: false,
            address: 'karmada-scheduler-estimator-{cluster}.karmada-system.svc:10352',
            timeout: '3s',
          },
          kinds: [],
          queues: { enabled: false, reserveAfter: '5m' },
        },
        runtimeClientConnection: {
          qps: -1,
          burst: 120,
          contentType: 'application/json',
          acceptContentTypes: 'application/json',
        },
        debugging: { enableProfiling: false, pprofBindHost: '127.0.0.1', pprofBindPort: 2753 },
        authorizer: {
          enabled: false,
          exemptServiceAccountUserNames: [],
          reconcilerServiceAccountUserName: '',
        },
        network: { autoMNNVLEnabled: false },
        featureGates: {},
      },
    });
  });

  test('a key without a value means its default; free-form values keep their nulls', () => {
    const profiles = [{ name: 'kai-scheduler', config: { queue: null } }];
    const document = {
      ...header,
      server: null,
      logLevel: null,
      metadata: { name: null },
      scheduler: { profiles },
    };
    const { configuration, faults: none } = validateConfiguration(document);
    expect(none).toEqual([]);
    expect(configuration?.server.webhooks.port).toBe(9443);
    expect(configuration?.schedulers.profiles[0]).toEqual(profiles[0]);
  });

  test('clientCertificate asks for a CA and knows kubeadm’s name', () => {
    const webhooks = { clientCertificate: { caFile: '/ca.crt' } };
    const { configuration } = validateConfiguration({ ...header, server: { webhooks } });
    expect(configuration?.server.webhooks.clientCertificate).toEqual({
      caFile: '/ca.crt',
      allowedNames: ['kube-apiserver'],
    });
  });
});

test('fleet.estimators: a host for each cluster, some time, and a certificate with its key', () => {
  expect(faults({ fleet: { estimators: { address: 'estimator:10352' } } })).toEqual([
    'fleet.estimators.address: must be a host with "{cluster}" in it, and a port',
  ]);
  expect(faults({ fleet: { estimators: { timeout: '0s' } } })).toEqual([
    'fleet.estimators.timeout: must be greater than 0',
  ]);
  const tls = { caFile: '/ca.crt', certFile: '/tls.crt' };
  expect(faults({ fleet: { estimators: { tls } } })).toEqual([
    'fleet.estimators.tls: must have both certFile and keyFile, or neither',
  ]);
  expect(faults({ fleet: { estimators: { tls: { ...tls, keyFile: '/tls.key' } } } })).toEqual([]);
});

describe('the shape of a document', () => {
  test.each<[string, unknown, string[]]>([
    ['a list', [], [': must be a mapping with apiVersion and kind, not a list']],
    ['nothing', null, [': must be a mapping with apiVersion and kind, not nothing']],
    ['a string', 'x', [': must be a mapping with apiVersion and kind, not the string "x"']],
    ['no header', {}, ['apiVersion: is required', 'kind: is required']],
    [
      'another header',
      { apiVersion: 'operator.config.grove.io/v1alpha2', kind: 'Config' },
      [
        'apiVersion: unsupported value "operator.config.grove.io/v1alpha2" (supported: operator.config.grove.io/v1alpha1) (did you mean "operator.config.grove.io/v1alpha1"?)',
        'kind: unsupported value "Config" (supported: OperatorConfiguration)',
      ],
    ],
  ])('%s', (_, document, expected) => expect(faultsOf(document)).toEqual(expected));

  test.each<[object, string]>([
    [{ schedulrName: 'x' }, 'schedulrName: unknown key "schedulrName" (did you mean "schedulerName"?)'],
    [{ loglevel: 'info' }, 'loglevel: unknown key "loglevel" (did you mean "logLevel"?)'],
    [
      { quite: 1 },
      'quite: unknown key "quite" (this version of Muster has no such setting; another one may)',
    ],
    [
      { 'muster.dev/x': 1 },
      '["muster.dev/x"]: unknown key "muster.dev/x" (this version of Muster has no such setting; another one may)',
    ],
    [{ serverCertDir: '/x' }, 'serverCertDir: unknown key "serverCertDir" (it belongs in server.webhooks)'],
    [
      { server: { logLevel: 'info' } },
      'server.logLevel: unknown key "logLevel" (it belongs at the top level)',
    ],
    [{ webhooks: {} }, 'webhooks: unknown key "webhooks" (it belongs in server)'],
    [
      { server: { webhooks: { prot: 1 } } },
      'server.webhooks.prot: unknown key "prot" (did you mean "port"?)',
    ],
    [
      { scheduler: { profiles: [{ name: 'default-scheduler', nmae: 'x' }] } },
      'scheduler.profiles[0].nmae: unknown key "nmae" (did you mean "name"?)',
    ],
    [
      JSON.parse('{"__proto__":{"logLevel":"debug"}}') as object,
      '__proto__: unknown key "__proto__" (this version of Muster has no such setting; another one may)',
    ],
    [
      { server: { port: 1 } },
      'server.port: unknown key "port" (this version of Muster has no such setting; another one may)',
    ],
    [
      { constructor: 1 },
      'constructor: unknown key "constructor" (this version of Muster has no such setting; another one may)',
    ],
  ])('unknown key %j', (document, expected) => expect(faults(document)).toEqual([expected]));
});

describe('values', () => {
  test.each<[object, string]>([
    [{ logLevel: 'trace' }, 'logLevel: unsupported value "trace" (supported: debug, info, warn, error)'],
    [
      { logLevel: 'inof' },
      'logLevel: unsupported value "inof" (supported: debug, info, warn, error) (did you mean "info"?)',
    ],
    [{ logFormat: 3 }, 'logFormat: must be one of json, text, not the number 3'],
    [
      { logFormat: 'x'.repeat(100) },
      `logFormat: unsupported value "${'x'.repeat(79)}…" (supported: json, text)`,
    ],
    [{ schedulerName: 3 }, 'schedulerName: must be a string, not the number 3'],
    [{ scheduler: [] }, 'scheduler: must be a mapping, not a list'],
    [{ scheduler: { profiles: {} } }, 'scheduler.profiles: must be a list, not a mapping'],
    [{ scheduler: { profiles: [{}] } }, 'scheduler.profiles[0].name: is required'],
    [
      { scheduler: { profiles: [{ name: 'kai-scheduler', config: 'x' }] } },
      'scheduler.profiles[0].config: must be a mapping, not the string "x"',
    ],
    [{ metadata: 'x' }, 'metadata: must be a mapping, not the string "x"'],
    [
      { leaderElection: { enabled: 'yes' } },
      'leaderElection.enabled: must be true or false, not the string "yes"',
    ],
    [
      { leaderElection: { resourceLock: 'endpoints' } },
      'leaderElection.resourceLock: unsupported value "endpoints" (supported: leases)',
    ],
    [{ leaderElection: { resourceName: '' } }, 'leaderElection.resourceName: resourceName is required'],
    [
      { leaderElection: { resourceNamespace: '' } },
      'leaderElection.resourceNamespace: resourceNamespace is required',
    ],
    [
      { leaderElection: { leaseDuration: 15 } },
      'leaderElection.leaseDuration: must be a duration such as "15s" or "1m30s"',
    ],
    [
      { leaderElection: { leaseDuration: '15' } },
      'leaderElection.leaseDuration: must be a duration such as "15s" or "1m30s"',
    ],
    [
      { controllers: { podGang: { concurrentSyncs: 0 } } },
      'controllers.podGang.concurrentSyncs: must be greater than 0',
    ],
    [
      { controllers: { podClique: { concurrentSyncs: 1.5 } } },
      'controllers.podClique.concurrentSyncs: must be a whole number, not the number 1.5',
    ],
    [{ server: { webhooks: { port: -1 } } }, 'server.webhooks.port: must be at least 0'],
    [{ server: { webhooks: { port: 65536 } } }, 'server.webhooks.port: must be at most 65535'],
    [{ server: { webhooks: { port: true } } }, 'server.webhooks.port: must be a number, not true'],
    [
      { server: { metrics: { bindAddress: 'localhost' } } },
      'server.metrics.bindAddress: must be an IP address, or empty for all',
    ],
    [{ server: { webhooks: { serverCertDir: '' } } }, 'server.webhooks.serverCertDir: must name a directory'],
    [
      { server: { webhooks: { tlsMinVersion: 1.3 } } },
      'server.webhooks.tlsMinVersion: must be a string: write "1.3" with quotes',
    ],
    [
      { server: { webhooks: { tlsMinVersion: '1.1' } } },
      'server.webhooks.tlsMinVersion: unsupported value "1.1" (supported: 1.3, 1.2) (did you mean "1.3"?)',
    ],
    [
      { server: { webhooks: { clientCertificate: {} } } },
      'server.webhooks.clientCertificate.caFile: is required',
    ],
    [
      { server: { webhooks: { clientCertificate: { caFile: '' } } } },
      'server.webhooks.clientCertificate.caFile: must name a file',
    ],
    [
      { server: { webhooks: { clientCertificate: { caFile: 'x', allowedNames: [] } } } },
      'server.webhooks.clientCertificate.allowedNames: must list at least one name',
    ],
    [
      { server: { webhooks: { clientCertificate: { caFile: 'x', allowedNames: [''] } } } },
      'server.webhooks.clientCertificate.allowedNames[0]: must not be empty',
    ],
    [{ runtimeClientConnection: { burst: -1 } }, 'runtimeClientConnection.burst: must be non-negative'],
    [
      { runtimeClientConnection: { qps: 0 } },
      'runtimeClientConnection.qps: must not be 0: leave it out for the default, or make it negative for no limit',
    ],
    [
      { topologyAwareScheduling: { levels: [{ domain: 'rack' }] } },
      'topologyAwareScheduling.levels[0].key: is required',
    ],
    [
      { topologyAwareScheduling: { levels: [{ domain: '', key: 'a' }] } },
      'topologyAwareScheduling.levels[0].domain: must not be empty',
    ],
    [
      { topologyAwareScheduling: { levels: [null] } },
      'topologyAwareScheduling.levels[0]: must be a mapping, not nothing',
    ],
    [{ featureGates: { x: 'y' } }, 'featureGates.x: must be true or false, not the string "y"'],
  ])('%j', (document, expected) => expect(faults(document)).toEqual([expected]));

  test.each(['127.0.0.1', '::', ''])('address %j', (bindAddress) => {
    expect(faults({ server: { healthProbes: { bindAddress } } })).toEqual([]);
  });
});

describe('rules across fields', () => {
  const election = (leaderElection: object) => faults({ leaderElection });
  test.each<[object, string[]]>([
    [
      { leaseDuration: '10s' },
      ['leaderElection.leaseDuration: LeaseDuration must be greater than RenewDeadline'],
    ],
    [
      { renewDeadline: '20s' },
      ['leaderElection.leaseDuration: LeaseDuration must be greater than RenewDeadline'],
    ],
    [
      { retryPeriod: '9s' },
      ['leaderElection.renewDeadline: RenewDeadline must be greater than 1.2 times RetryPeriod'],
    ],
    [
      { leaseDuration: '0s', renewDeadline: '-1s', retryPeriod: '0' },
      ['leaseDuration', 'renewDeadline', 'retryPeriod'].map(
        (key) => `leaderElection.${key}: must be greater than 0`,
      ),
    ],
    [{ enabled: false, leaseDuration: '1s' }, []],
    [{ leaseDuration: '1m30s', renewDeadline: '1m' }, []],
    [
      { resourceName: 'grove-operator-leader-election' },
      [
        'warning leaderElection.resourceName: "grove-operator-leader-election" is the Grove operator’s own Lease: in its namespace only one of the two would lead',
      ],
    ],
  ])('leader election %j', (leaderElection, expected) => expect(election(leaderElection)).toEqual(expected));

  const levels = [
    { domain: 'zone', key: 'topology.kubernetes.io/zone' },
    { domain: 'zone', key: 'topology.kubernetes.io/zone' },
    { domain: 'rack', key: 'no spaces/please' },
  ];
  const said = [
    'topologyAwareScheduling.levels[1].domain: duplicate domain "zone"',
    'topologyAwareScheduling.levels[1].key: duplicate key "topology.kubernetes.io/zone"',
    'topologyAwareScheduling.levels[2].key: "no spaces/please" is not a valid label key',
  ];
  test('topology levels, where they matter', () => {
    expect(faults({ topologyAwareScheduling: { enabled: true, levels } })).toEqual(said);
  });
  test('topology levels, where they do not', () => {
    expect(faults({ topologyAwareScheduling: { levels } })).toEqual(said.map((line) => `warning ${line}`));
    expect(faults({ topologyAwareScheduling: { enabled: true } })).toEqual([]);
  });
  test.each([
    ['kubernetes.io/hostname', true],
    ['rack', true],
    ['a/b/c', false],
    ['/rack', false],
    ['rack/', false],
    ['Upper.io/rack', false],
    ['-rack', false],
    [`${'a'.repeat(63)}`, true],
    [`${'a'.repeat(64)}`, false],
    [`${'a.'.repeat(126)}a/x`, true],
    [`${'a.'.repeat(126)}aa/x`, false],
  ])('label key %s', (key, valid) => {
    const topologyAwareScheduling = { enabled: true, levels: [{ domain: 'd', key }] };
    expect(faults({ topologyAwareScheduling }).length).toBe(valid ? 0 : 1);
  });

  test.each<[object, string[]]>([
    [{ metrics: { port: 8081 } }, ['server.metrics.port: port 8081 is taken by server.healthProbes']],
    [
      { metrics: { port: 9443, bindAddress: '10.0.0.1' } },
      ['server.metrics.port: port 9443 is taken by server.webhooks'],
    ],
    [
      { webhooks: { port: 8080, bindAddress: '10.0.0.1' } },
      ['server.metrics.port: port 8080 is taken by server.webhooks'],
    ],
    [
      {
        metrics: { port: 1, bindAddress: '10.0.0.1' },
        healthProbes: { port: 1, bindAddress: '10.0.0.2' },
      },
      [],
    ],
    [{ metrics: { port: 0 }, healthProbes: { port: 0 }, webhooks: { port: 0 } }, []],
    [
      { webhooks: { limits: { maxBodyBytes: 100, maxInFlightBytes: 99 } } },
      ['server.webhooks.limits.maxBodyBytes: must not be greater than maxInFlightBytes (99)'],
    ],
    [
      { webhooks: { drain: { seconds: 101 } } },
      ['server.webhooks.drain.seconds: must not be greater than maxSeconds (100)'],
    ],
    [{ certificates: { mode: 'inCluster', leaf: { duration: '1m', renewBefore: '59s' } } }, []],
    [
      { certificates: { mode: 'cert-manager' } },
      ['server.certificates.mode: unsupported value "cert-manager" (supported: files, inCluster)'],
    ],
    [
      { certificates: { secretName: 'My Secret' } },
      ['server.certificates.secretName: must be the name of a Secret'],
    ],
    [
      { certificates: { leaf: { duration: '59s' }, ca: { renewBefore: '8760h', settle: '-1s' } } },
      [
        'server.certificates.leaf.duration: must be at least 1m',
        'server.certificates.ca.renewBefore: must be less than duration',
        'server.certificates.ca.settle: must not be negative',
      ],
    ],
    [
      { certificates: { leaf: { duration: '2h', renewBefore: '0' }, ca: { duration: '1h' } } },
      [
        'server.certificates.leaf.renewBefore: must be greater than 0',
        'server.certificates.leaf.duration: must not be greater than ca.duration: a certificate ends with its CA',
      ],
    ],
  ])('server %j', (server, expected) => expect(faults({ server })).toEqual(expected));

  const muster = 'system:serviceaccount:muster-system:muster';
  test.each<[unknown, string[]]>([
    [[muster, 'system:kube-controller-manager'], []],
    [
      [],
      [
        `warning trustedAccounts: "${muster}" is not listed: right only if Muster runs under another account, and that one is listed`,
      ],
    ],
    [[muster, muster], [`warning trustedAccounts[1]: duplicate account "${muster}"`]],
    [
      [muster, 'system:serviceaccount:muster'],
      ['trustedAccounts[1]: must be of the form system:serviceaccount:<namespace>:<name>'],
    ],
    [[muster, ''], ['trustedAccounts[1]: must not be empty']],
    [[muster, 5], ['trustedAccounts[1]: must be a string, not the number 5']],
    ['x', ['trustedAccounts: must be a list, not the string "x"']],
  ])('trusted accounts %j', (trustedAccounts, expected) => {
    expect(faults({ trustedAccounts })).toEqual(expected);
  });

  test('the account of the namespace of the Lease is Muster’s own, too', () => {
    const leaderElection = { resourceNamespace: 'gangs' };
    const trustedAccounts = ['system:serviceaccount:gangs:muster'];
    expect(faults({ leaderElection, trustedAccounts })).toEqual([]);
  });
});

test('all faults at once, schema and rules together', () => {
  const document = {
    ...header,
    logLevel: 'loud',
    extra: 1,
    schedulerName: 'x',
    leaderElection: { leaseDuration: '1s' },
    server: { metrics: { port: 9443 } },
  };
  expect(faultsOf(document).sort()).toEqual([
    'extra: unknown key "extra" (this version of Muster has no such setting; another one may)',
    'leaderElection.leaseDuration: LeaseDuration must be greater than RenewDeadline',
    'logLevel: unsupported value "loud" (supported: debug, info, warn, error)',
    'schedulerName: unsupported scheduler "x" (supported: default-scheduler, kai-scheduler)',
    'server.metrics.port: port 9443 is taken by server.webhooks',
  ]);
  expect(validateConfiguration(document).configuration).toBeUndefined();
});
