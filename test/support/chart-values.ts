import { switches } from '../../charts/sources.ts';
import type { Factors } from './pairwise.ts';

/** Values, with the release of Kubernetes and the namespace that they are rendered for. */
export interface Choice {
  readonly values?: object;
  readonly kubernetes?: string;
  readonly namespace?: string;
}

const none: Choice = {};
const given = (values: object): Choice => ({ values });
const on = { enabled: true };
const off = { enabled: false };
const config = (fields: object): Choice => given({ config: fields });

/** What each value of the chart can be: the first option is its default. */
export const CHOICES: Factors<Choice> = {
  kubernetes: [none, { kubernetes: '1.35.3' }],
  mutatingAdmissionPolicies: [
    none,
    ...['enabled', 'disabled'].map((one) => given({ mutatingAdmissionPolicies: one })),
  ],
  namespace: [
    none,
    { namespace: 'gangs' },
    given({ namespaceOverride: 'gangs', namespace: { create: true } }),
  ],
  ...Object.fromEntries(
    switches().map((name) => {
      const needs = /^karmada[AQ]/.test(name) && name !== 'karmadaAccess' ? { karmadaAccess: on } : {};
      const besides = name === 'preemptionPastBudgets' ? { preemption: on } : needs;
      return [name, [none, given({ components: { [name]: on, ...besides } })]] as const;
    }),
  ),
  backends: [
    none,
    config({ scheduler: { profiles: [{ name: 'kai-scheduler' }, { name: 'volcano' }] } }),
    config({ schedulerName: 'coscheduling', scheduler: null }),
  ],
  gangs: [
    none,
    config({
      controllers: {
        podGang: {
          namespaceSelector: { matchLabels: { team: 'ml' } },
          objectSelector: { matchExpressions: [{ key: 'by', operator: 'NotIn', values: ['other'] }] },
        },
      },
    }),
  ],
  ports: [
    none,
    config({ server: { webhooks: { port: 10250, drain: { maxSeconds: 200.5 } }, metrics: { port: 9090 } } }),
  ],
  trustedAccounts: [
    none,
    given({ trustedAccounts: ['system:serviceaccount:ci:robot', 'alice@example.com'] }),
  ],
  crds: [none, given({ crds: { install: false } })],
  certificates: [
    none,
    given({ certificates: { mode: 'inCluster' } }),
    given({
      certificates: {
        mode: 'certManager',
        certManager: { issuerRef: { name: 'corporate', kind: 'ClusterIssuer' } },
      },
    }),
    given({ certificates: { mode: 'secret', secretName: 'mine', caBundle: 'YQ==' } }),
  ],
  image: [
    none,
    given({
      image: { registry: 'registry.example', repository: 'a/muster', tag: 'v1', pullPolicy: 'Always' },
    }),
    given({ image: { digest: `sha256:${'a'.repeat(64)}` }, imagePullSecrets: [{ name: 'registry' }] }),
  ],
  replicas: [
    none,
    given({ replicaCount: 1 }),
    given({ replicaCount: 7, podDisruptionBudget: { maxUnavailable: '30%' } }),
  ],
  budget: [none, given({ podDisruptionBudget: off })],
  quota: [none, given({ resourceQuota: off }), given({ resourceQuota: { pods: 50 } })],
  priority: [none, given({ priorityClassName: '' })],
  network: [
    none,
    given({ networkPolicy: off }),
    given({
      networkPolicy: {
        callerCIDRs: ['10.0.0.0/8', 'fd00::/8'],
        apiServerCIDRs: ['10.1.0.1/32'],
        apiServerPorts: [16443],
        metricsFrom: [{ podSelector: {}, namespaceSelector: { matchLabels: { name: 'prometheus' } } }],
        extraIngress: [{ ports: [{ port: 'metrics', protocol: 'TCP' }] }],
        extraEgress: [{ ports: [{ port: 53, protocol: 'UDP' }] }],
      },
    }),
  ],
  place: [
    none,
    given({
      nodeSelector: { pool: 'system' },
      tolerations: [],
      topologySpreadConstraints: [],
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname' }],
        },
      },
    }),
  ],
  resources: [none, given({ resources: { requests: { cpu: 1 }, limits: { cpu: '2', memory: '1Gi' } } })],
  security: [
    none,
    given({ podSecurityContext: { runAsUser: null, runAsGroup: null, fsGroup: null }, hostNetwork: true }),
  ],
  metadata: [
    none,
    given({
      ...{ commonLabels: { team: 'platform' }, podLabels: { a: 'b' }, podAnnotations: { c: 'd' } },
      ...{ serviceAccount: { annotations: { e: 'f' } }, webhooks: { annotations: { g: 'true' } } },
    }),
  ],
  extra: [
    none,
    given({
      extraEnv: [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
      extraVolumes: [{ name: 'more', emptyDir: {} }],
      extraVolumeMounts: [{ name: 'more', mountPath: '/more' }],
      extraObjects: [
        {
          ...{ apiVersion: 'v1', kind: 'ConfigMap' },
          metadata: { name: 'more', namespace: '{{ include "muster.namespace" . }}' },
        },
      ],
    }),
  ],
  modules: [
    none,
    given({
      modules: [
        { name: 'line', files: { 'line.js': 'export default 1;\n' } },
        { name: 'mine', configMap: 'mine' },
      ],
    }),
    given({
      modules: [
        { name: 'packed', image: { reference: 'registry.example/line@sha256:0', pullPolicy: 'Always' } },
      ],
    }),
  ],
  monitoring: [
    none,
    given({
      monitoring: {
        podMonitor: {
          ...on,
          labels: { release: 'prometheus' },
          relabelings: [{ action: 'labeldrop', regex: 'pod' }],
        },
        prometheusRule: { ...on, labels: { release: 'prometheus' } },
        dashboards: { ...on, annotations: { folder: 'gangs' } },
      },
    }),
    given({
      monitoring: { serviceMonitor: { ...on, interval: '1m', metricRelabelings: [{ action: 'keep' }] } },
    }),
  ],
};

/** One set of values of all that were chosen. */
export const together = (choices: readonly Choice[]): Required<Choice> => ({
  values: choices.reduce<object>((all, { values = {} }) => merged(all, values), {}),
  kubernetes: choices.find(({ kubernetes }) => kubernetes !== undefined)?.kubernetes ?? '1.37.2',
  namespace: choices.find(({ namespace }) => namespace !== undefined)?.namespace ?? 'muster-system',
});

function merged(one: object, other: object): object {
  const all: Record<string, unknown> = { ...one };
  for (const [key, value] of Object.entries(other) as [string, unknown][]) {
    const before = all[key];
    all[key] = isMap(before) && isMap(value) ? merged(before, value) : value;
  }
  return all;
}

const isMap = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
