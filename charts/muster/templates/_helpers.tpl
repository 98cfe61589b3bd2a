{{- /* The namespace of Muster's objects. */}}
{{- define "muster.namespace" -}}
{{ .Values.namespaceOverride | default .Release.Namespace }}
{{- end }}

{{- /* Labels of every object. Selectors have the first alone, as those of manifests/. */}}
{{- define "muster.labels" -}}
app.kubernetes.io/name: muster
app.kubernetes.io/part-of: muster
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "muster.image" -}}
{{- $name := .Values.image.repository -}}
{{- with .Values.image.registry }}{{ $name = printf "%s/%s" . $name }}{{ end -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{- if .Values.image.digest }}{{ $name }}@{{ .Values.image.digest }}{{ else }}{{ $name }}:{{ $tag }}{{ end }}
{{- end }}

{{- /* Who may take gates off, and write references and Initialized: the list for the configuration and the policies. */}}
{{- define "muster.trustedAccounts" -}}
{{- $accounts := concat (list (printf "system:serviceaccount:%s:muster" (include "muster.namespace" .))) .Values.trustedAccounts -}}
{{- with .Values.components.groveOperator }}{{ if .enabled }}{{ $accounts = concat $accounts .accounts }}{{ end }}{{ end -}}
{{ $accounts | uniq | toJson }}
{{- end }}

{{- define "muster.trustedInCEL" -}}
['{{ include "muster.trustedAccounts" . | fromJsonArray | join "', '" }}']
{{- end }}

{{- /* Whether the configuration has a backend's profile, which brings the rights for it: (list . "volcano"). */}}
{{- define "muster.hasBackend" -}}
{{- $config := (index . 0).Values.config -}}
{{- $names := list ($config.schedulerName | default "") -}}
{{- range dig "scheduler" "profiles" list $config }}{{ $names = append $names .name }}{{ end -}}
{{- if has (index . 1) $names }}true{{ end }}
{{- end }}

{{- /* MutatingAdmissionPolicy is served as v1 from Kubernetes 1.36 on. */}}
{{- define "muster.mutatingPolicies" -}}
{{- $auto := semverCompare ">=1.36.0-0" .Capabilities.KubeVersion.Version -}}
{{- if or (eq .Values.mutatingAdmissionPolicies "enabled") (and (eq .Values.mutatingAdmissionPolicies "auto") $auto) }}true{{ end }}
{{- end }}

{{- /* What controllers.podGang of the configuration selects, for a webhook: (list . "objectSelector" "matchLabels"). */}}
{{- define "muster.gangs" -}}
{{- $selector := dig "controllers" "podGang" (index . 1) dict (index . 0).Values.config -}}
{{- $part := index . 2 -}}
{{- if eq $part "matchExpressions" }}{{ with $selector.matchExpressions }}{{ toYaml . }}{{ end }}
{{- else if eq $part "matchLabels" }}{{ with $selector.matchLabels }}{{ dict "matchLabels" . | toYaml }}{{ end }}
{{- else if or $selector.matchLabels $selector.matchExpressions }}{{ dict (index . 1) $selector | toYaml }}
{{- end }}
{{- end }}

{{- /* A port that the configuration may change: (list . "metrics" 8080). */}}
{{- define "muster.port" -}}
{{ dig "server" (index . 1) "port" (index . 2) (index . 0).Values.config | int }}
{{- end }}

{{- define "muster.resources" -}}
{{- $memory := dict "limits" (dict "memory" (include "muster.memoryLimit" .)) -}}
{{ mergeOverwrite $memory (deepCopy .Values.resources) | toYaml }}
{{- end }}

{{- /* Longer than a drain takes (server.webhooks.drain). */}}
{{- define "muster.terminationGracePeriodSeconds" -}}
{{ add (dig "server" "webhooks" "drain" "maxSeconds" 100 .Values.config | float64 | ceil | int) 20 }}
{{- end }}

{{- define "muster.disruptionBudget" -}}
{{- if not (kindIs "invalid" .Values.podDisruptionBudget.maxUnavailable) -}}
maxUnavailable: {{ .Values.podDisruptionBudget.maxUnavailable }}
{{- else if not (kindIs "invalid" .Values.podDisruptionBudget.minAvailable) -}}
minAvailable: {{ .Values.podDisruptionBudget.minAvailable }}
{{- else -}}
minAvailable: {{ max 0 (sub (int .Values.replicaCount) 1) }}
{{- end }}
{{- end }}

{{- /* The replicas, the surge, and some that still drain. */}}
{{- define "muster.quotaPods" -}}
{{ .Values.resourceQuota.pods | default (add 8 (mul 4 (int .Values.replicaCount))) }}
{{- end }}

{{- define "muster.certificateSecret" -}}
{{- if eq .Values.certificates.mode "secret" }}{{ .Values.certificates.secretName }}{{ else }}muster-serving-cert{{ end }}
{{- end }}

{{- define "muster.issuer" -}}
{{- with .Values.certificates.certManager.issuerRef }}{{ toYaml . }}{{ else -}}
group: cert-manager.io
kind: Issuer
name: muster-ca
{{- end }}
{{- end }}

{{- define "muster.webhookAnnotations" -}}
{{- $annotations := dict -}}
{{- if eq .Values.certificates.mode "certManager" -}}
{{- $_ := set $annotations "cert-manager.io/inject-ca-from" (printf "%s/muster-serving" (include "muster.namespace" .)) -}}
{{- end -}}
{{- with mergeOverwrite $annotations .Values.webhooks.annotations }}{{ toYaml . }}{{ end }}
{{- end }}

{{- /* The OperatorConfiguration: what the values say of it, and what they say elsewhere. */}}
{{- define "muster.configuration" -}}
{{- $config := deepCopy .Values.config -}}
{{- $_ := set $config "apiVersion" "operator.config.grove.io/v1alpha1" -}}
{{- $_ := set $config "kind" "OperatorConfiguration" -}}
{{- $own := printf "system:serviceaccount:%s:muster" (include "muster.namespace" .) -}}
{{- $_ := set $config "trustedAccounts" (concat (list $own) .Values.trustedAccounts | uniq) -}}
{{- if ne (include "muster.namespace" .) "muster-system" -}}
{{- $election := $config.leaderElection | default dict -}}
{{- $_ := set $election "resourceNamespace" (include "muster.namespace" .) -}}
{{- $_ := set $config "leaderElection" $election -}}
{{- end -}}
{{ toYaml $config }}
{{- end }}
