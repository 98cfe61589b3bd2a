import type { Credentials } from './credentials.ts';

/** Argument lists of the four programs; everything listens on 127.0.0.1 only. */

export interface EtcdSettings {
  readonly dataDir: string;
  readonly clientPort: number;
  readonly peerPort: number;
}

export function etcdArguments({ dataDir, clientPort, peerPort }: EtcdSettings): string[] {
  const client = `http://127.0.0.1:${clientPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  return [
    `--data-dir=${dataDir}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    // The data need to outlive the API server, not the machine.
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

export interface ApiServerSettings {
  readonly etcdPort: number;
  readonly port: number;
  readonly credentials: Credentials;
  readonly featureGates: Readonly<Record<string, boolean>>;
  readonly runtimeConfig: Readonly<Record<string, string>>;
  readonly audit?: { readonly policyFile: string; readonly logFile: string } | undefined;
  readonly admissionControlConfigFile?: string | undefined;
  readonly extra: readonly string[];
}

export function apiServerArguments(settings: ApiServerSettings): string[] {
  const { credentials, audit } = settings;
  return [
    `--etcd-servers=http://127.0.0.1:${settings.etcdPort}`,
    '--bind-address=127.0.0.1',
    // Nobody reaches it through the Service \`kubernetes\`, whose endpoints may not be on loopback: 1.37 would not start.
    '--endpoint-reconciler-type=none',
    `--secure-port=${settings.port}`,
    ...serving(credentials),
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-signing-key-file=${credentials.serviceAccountKey}`,
    `--service-account-key-file=${credentials.serviceAccountPublicKey}`,
    `--token-auth-file=${credentials.tokenFile}`,
    `--client-ca-file=${credentials.clientCaFile}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--allow-privileged=true',
    // It would refuse every Pod until a controller has made the namespace's default service account.
    '--disable-admission-plugins=ServiceAccount',
    ...pairs('feature-gates', settings.featureGates),
    ...pairs('runtime-config', settings.runtimeConfig),
    ...(audit ? [`--audit-policy-file=${audit.policyFile}`, `--audit-log-path=${audit.logFile}`] : []),
    ...(settings.admissionControlConfigFile === undefined
      ? []
      : [`--admission-control-config-file=${settings.admissionControlConfigFile}`]),
    ...settings.extra,
  ];
}

export interface ComponentSettings {
  readonly kubeconfig: string;
  readonly port: number;
  readonly credentials: Credentials;
  readonly featureGates: Readonly<Record<string, boolean>>;
}

export function schedulerArguments(settings: ComponentSettings): string[] {
  return [
    ...componentArguments(settings),
    // By default 50 requests a second, and so less than 50 Pods.
    '--kube-api-qps=1000',
    '--kube-api-burst=2000',
  ];
}

export function controllerManagerArguments(
  settings: ComponentSettings & {
    readonly nodeGraceSeconds: number | undefined;
    readonly without: readonly string[];
  },
): string[] {
  // Our nodes have no kubelet that would renew a lease: this controller would declare them dead after 40 s.
  const lifecycle = settings.nodeGraceSeconds === undefined ? ['node-lifecycle-controller'] : [];
  const without = [...lifecycle, ...settings.without].map((name) => `-${name}`);
  return [
    ...componentArguments(settings),
    `--controllers=${['*', ...without].join(',')}`,
    // Each controller under its own service account, as in a real cluster: the Pods of a ReplicaSet are created by
    // system:serviceaccount:kube-system:replicaset-controller, and that is who admission sees.
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${settings.credentials.serviceAccountKey}`,
    `--root-ca-file=${settings.credentials.serving.certificateFile}`,
    ...(settings.nodeGraceSeconds === undefined
      ? []
      : [
          `--node-monitor-grace-period=${settings.nodeGraceSeconds}s`,
          `--node-startup-grace-period=${settings.nodeGraceSeconds}s`,
          '--node-monitor-period=1s',
        ]),
    // With the default of 20 requests a second it takes five seconds until the last controller runs.
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
  ];
}

function componentArguments({ kubeconfig, port, credentials, featureGates }: ComponentSettings): string[] {
  return [
    ...serving(credentials),
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    ...pairs('feature-gates', featureGates),
  ];
}

function serving({ serving: { certificateFile, keyFile } }: Credentials): string[] {
  return [`--tls-cert-file=${certificateFile}`, `--tls-private-key-file=${keyFile}`];
}

function pairs(flag: string, values: Readonly<Record<string, boolean | string>>): string[] {
  const list = Object.entries(values).map(([name, value]) => `${name}=${value}`);
  return list.length === 0 ? [] : [`--${flag}=${list.join(',')}`];
}
