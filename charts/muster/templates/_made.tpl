{{- /* Made from manifests/ by charts/make.ts. */}}
{{- define "muster.memoryLimit" -}}
{{ if .Values.components.preemptionPreview.enabled }}896Mi{{ else }}512Mi{{ end }}
{{- end }}

{{- /* Settings that a component brings, and its switch. */}}
{{- define "muster.switched" -}}
{"server.webhooks.clientCertificate.caFile":"clientCertificate","hpc.enabled":"hpc","server.certificates.mode":"inClusterCertificates","fleet.kubeconfig":"karmadaAccess","fleet.assigner.enabled":"karmadaAssigner","fleet.interpreter":"karmadaInterpreter","fleet.queues.enabled":"karmadaQueues","preemption.mode":"preemption","preemption.overridePodDisruptionBudgets":"preemptionPastBudgets","preemption.preview":"preemptionPreview"}
{{- end }}
