/** Where the values reach the objects. `@` in `nindent @` is the indentation of the place. */
export interface Place {
  readonly kind: string;
  readonly name?: string;
  readonly path: string;
  /** What the text replaces: the value, the field, or nothing: it comes behind the last item. */
  readonly how: 'value' | 'field' | 'append';
  readonly text: string;
}

const optional = (value: string, field: string): string =>
  `{{- with ${value} }}\n${field}:\n  {{- toYaml . | nindent @+2 }}\n{{- end }}`;

const more = (value: string): string => `{{- with ${value} }}\n{{- toYaml . | nindent @ }}\n{{- end }}`;

const POD = 'spec.template.spec';
const CONTAINER = `${POD}.containers.0`;
const inDeployment = (path: string, how: Place['how'], text: string): Place => ({
  ...{ kind: 'Deployment', name: 'muster', path, how, text },
});

/** Of the Pods of Muster and of the dashboard alike: the dashboard loads the modules of the configuration, too. */
const IN_BOTH: readonly Place[] = (
  [
    [
      'spec.template.metadata.annotations',
      'append',
      `# A changed configuration rolls the Deployment: Muster reads it at start.
checksum/config: {{ include "muster.configuration" . | sha256sum }}`,
    ],
    [`${POD}.securityContext`, 'field', optional('.Values.podSecurityContext', 'securityContext')],
    [`${CONTAINER}.image`, 'value', '{{ include "muster.image" . }}'],
    [`${CONTAINER}.imagePullPolicy`, 'value', '{{ .Values.image.pullPolicy }}'],
    [`${CONTAINER}.securityContext`, 'field', optional('.Values.securityContext', 'securityContext')],
    [
      `${CONTAINER}.volumeMounts`,
      'append',
      `{{- range .Values.modules }}
- name: module-{{ .name }}
  mountPath: /etc/muster/modules/{{ .name }}
  readOnly: true
{{- end }}`,
    ],
    [
      `${POD}.volumes`,
      'append',
      `{{- range .Values.modules }}
- name: module-{{ .name }}
  {{- if .image }}
  image:
    {{- toYaml .image | nindent @+4 }}
  {{- else }}
  configMap:
    name: {{ .configMap | default (printf "muster-module-%s" .name) }}
  {{- end }}
{{- end }}`,
    ],
  ] as const
).map(([path, how, text]) => ({ kind: 'Deployment', path, how, text }));

const DASHBOARD: readonly Place[] = (
  [
    [
      `${CONTAINER}.args`,
      'field',
      `args:
  - dashboard
  - --in-cluster
  - --config=/etc/muster/config/config.yaml
  - --cert-dir=/etc/muster/certs
  {{- range .Values.components.dashboard.hosts }}
  - --host={{ . }}
  {{- end }}`,
    ],
    [
      POD,
      'append',
      [
        optional('.Values.nodeSelector', 'nodeSelector'),
        optional('.Values.affinity', 'affinity'),
        optional('.Values.imagePullSecrets', 'imagePullSecrets'),
      ].join('\n'),
    ],
  ] as const
).map(([path, how, text]) => ({ kind: 'Deployment', name: 'muster-dashboard', path, how, text }));

const DEPLOYMENT: readonly Place[] = [
  inDeployment('spec.replicas', 'value', '{{ .Values.replicaCount }}'),
  inDeployment('spec.template.metadata.labels', 'append', more('.Values.podLabels')),
  inDeployment('spec.template.metadata.annotations', 'append', more('.Values.podAnnotations')),
  inDeployment(
    `${POD}.priorityClassName`,
    'field',
    '{{- with .Values.priorityClassName }}\npriorityClassName: {{ . }}\n{{- end }}',
  ),
  inDeployment(
    `${POD}.terminationGracePeriodSeconds`,
    'value',
    '{{ include "muster.terminationGracePeriodSeconds" . }}',
  ),
  inDeployment(`${POD}.tolerations`, 'field', optional('.Values.tolerations', 'tolerations')),
  inDeployment(
    `${POD}.topologySpreadConstraints`,
    'field',
    [
      optional('.Values.topologySpreadConstraints', 'topologySpreadConstraints'),
      optional('.Values.nodeSelector', 'nodeSelector'),
      optional('.Values.affinity', 'affinity'),
      optional('.Values.imagePullSecrets', 'imagePullSecrets'),
      '{{- if .Values.hostNetwork }}\nhostNetwork: true\n{{- end }}',
    ].join('\n'),
  ),
  inDeployment(
    `${CONTAINER}.ports.0.containerPort`,
    'value',
    '{{ include "muster.port" (list . "webhooks" 9443) }}',
  ),
  inDeployment(
    `${CONTAINER}.ports.1.containerPort`,
    'value',
    '{{ include "muster.port" (list . "healthProbes" 8081) }}',
  ),
  inDeployment(
    `${CONTAINER}.ports.2.containerPort`,
    'value',
    '{{ include "muster.port" (list . "metrics" 8080) }}',
  ),
  inDeployment(`${CONTAINER}.env`, 'append', more('.Values.extraEnv')),
  inDeployment(
    `${CONTAINER}.resources`,
    'field',
    'resources:\n  {{- include "muster.resources" . | nindent @+2 }}',
  ),
  inDeployment(`${CONTAINER}.volumeMounts`, 'append', more('.Values.extraVolumeMounts')),
  inDeployment(`${POD}.volumes.1.secret.secretName`, 'value', '{{ include "muster.certificateSecret" . }}'),
  inDeployment(`${POD}.volumes`, 'append', more('.Values.extraVolumes')),
];

const addresses = (value: string, field: string): string =>
  `{{- with ${value} }}
${field}:
  {{- range . }}
  - ipBlock:
      cidr: {{ . }}
  {{- end }}
{{- end }}`;

const NETWORK: readonly Place[] = (
  [
    ['spec.ingress.0', 'append', addresses('.Values.networkPolicy.callerCIDRs', 'from')],
    ['spec.ingress.1.from', 'value', '{{- toYaml .Values.networkPolicy.metricsFrom | nindent 8 }}'],
    ['spec.ingress', 'append', more('.Values.networkPolicy.extraIngress')],
    [
      'spec.egress.0.ports',
      'value',
      '{{- range .Values.networkPolicy.apiServerPorts }}\n        - port: {{ . }}\n          protocol: TCP\n        {{- end }}',
    ],
    ['spec.egress.0', 'append', addresses('.Values.networkPolicy.apiServerCIDRs', 'to')],
    ['spec.egress', 'append', more('.Values.networkPolicy.extraEgress')],
  ] as const
).map(([path, how, text]) => ({
  // Both reach API servers alone; who reaches them differs.
  ...{ kind: 'NetworkPolicy', path, how, text },
  ...(path.startsWith('spec.ingress') && { name: 'muster' }),
}));

const WEBHOOKS: readonly Place[] = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'].map(
  (kind) => ({
    ...{ kind, path: 'metadata', how: 'append' },
    text: `{{- with include "muster.webhookAnnotations" . }}
annotations:
  {{- . | nindent @+2 }}
{{- end }}`,
  }),
);

const ENDPOINT = 'spec.podMetricsEndpoints.0';
const MONITORING: readonly Place[] = [
  { path: `${ENDPOINT}.interval`, how: 'value', text: '{{ .Values.monitoring.podMonitor.interval }}' },
  {
    path: ENDPOINT,
    how: 'append',
    text: optional('.Values.monitoring.podMonitor.relabelings', 'relabelings'),
  },
  {
    ...{ path: ENDPOINT, how: 'append' },
    text: optional('.Values.monitoring.podMonitor.metricRelabelings', 'metricRelabelings'),
  },
].map((place) => ({ ...place, kind: 'PodMonitor', how: place.how === 'value' ? 'value' : 'append' }));

export const PLACES: readonly Place[] = [
  ...MONITORING,
  ...IN_BOTH,
  ...DEPLOYMENT,
  ...DASHBOARD,
  ...NETWORK,
  ...WEBHOOKS,
  {
    kind: 'ServiceAccount',
    name: 'muster',
    path: 'metadata',
    how: 'append',
    text: optional('.Values.serviceAccount.annotations', 'annotations'),
  },
  {
    kind: 'PodDisruptionBudget',
    path: 'spec.minAvailable',
    how: 'field',
    text: '{{- include "muster.disruptionBudget" . | nindent @ }}',
  },
  {
    kind: 'ResourceQuota',
    path: 'spec.hard.pods',
    how: 'value',
    text: '{{ include "muster.quotaPods" . | quote }}',
  },
  {
    kind: 'ResourceQuota',
    path: 'spec.scopeSelector.matchExpressions.0.values',
    how: 'value',
    text: '{{ list .Values.priorityClassName | toJson }}',
  },
  {
    kind: 'CustomResourceDefinition',
    path: 'metadata',
    how: 'append',
    text: 'annotations:\n  # Uninstalling the chart deletes no definition, for every object of it would go, too.\n  helm.sh/resource-policy: keep',
  },
  {
    kind: 'Namespace',
    path: 'metadata',
    how: 'append',
    text: 'annotations:\n  helm.sh/resource-policy: keep',
  },
  {
    kind: 'Certificate',
    name: 'muster-serving',
    path: 'spec.issuerRef',
    how: 'field',
    text: 'issuerRef:\n  {{- include "muster.issuer" . | nindent @+2 }}',
  },
];

/** Labels by which others find an object, behind those of every object. */
export const LABELS: Readonly<Record<string, string>> = Object.fromEntries(
  ['podMonitor', 'prometheusRule'].map((value) => [
    `${value.charAt(0).toUpperCase()}${value.slice(1)}`,
    `\n  {{- with .Values.monitoring.${value}.labels }}\n  {{- toYaml . | nindent @+2 }}\n  {{- end }}`,
  ]),
);
