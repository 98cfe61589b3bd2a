{{- /* What the schema cannot refuse: values that contradict each other. Each says field, rule and way out. */}}
{{- define "muster.refusals" -}}
{{- $config := .Values.config -}}
{{- if hasKey $config "trustedAccounts" -}}
{{- fail "config.trustedAccounts: Forbidden: policies have the same list; write further accounts into trustedAccounts" -}}
{{- end -}}
{{- range $field := list "resourceName" "resourceNamespace" -}}
{{- if hasKey ($config.leaderElection | default dict) $field -}}
{{- fail (printf "config.leaderElection.%s: Forbidden: a Role and a policy name the Lease; leave it out" $field) -}}
{{- end -}}
{{- end -}}
{{- range $field, $switch := include "muster.switched" . | fromJson -}}
{{- $at := $config -}}
{{- $found := true -}}
{{- range splitList "." $field -}}
{{- if and $found (kindIs "map" $at) (hasKey $at .) }}{{ $at = index $at . }}{{ else }}{{ $found = false }}{{ end -}}
{{- end -}}
{{- if $found -}}
{{- fail (printf "config.%s: Forbidden: the component brings it with its rights; set components.%s.enabled" $field $switch) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.components.preemptionPastBudgets.enabled (not .Values.components.preemption.enabled) -}}
{{- fail "components.preemptionPastBudgets.enabled: Invalid value: nobody is preempted without components.preemption.enabled; set that, too" -}}
{{- end -}}
{{- range list "karmadaAssigner" "karmadaQueues" -}}
{{- if and (index $.Values.components . "enabled") (not $.Values.components.karmadaAccess.enabled) -}}
{{- fail (printf "components.%s.enabled: Invalid value: it works in Karmada's API server; set components.karmadaAccess.enabled, too" .) -}}
{{- end -}}
{{- end -}}
{{- $budget := .Values.podDisruptionBudget -}}
{{- if and $budget.enabled (kindIs "float64" $budget.minAvailable) (ge (int $budget.minAvailable) (int .Values.replicaCount)) (gt (int .Values.replicaCount) 0) -}}
{{- fail (printf "podDisruptionBudget.minAvailable: Invalid value: %d of %d replicas: no node of theirs could be drained; make it less than replicaCount" (int $budget.minAvailable) (int .Values.replicaCount)) -}}
{{- end -}}
{{- if not (or (kindIs "invalid" $budget.minAvailable) (kindIs "invalid" $budget.maxUnavailable)) -}}
{{- fail "podDisruptionBudget.maxUnavailable: Forbidden: there is minAvailable already; take one of them" -}}
{{- end -}}
{{- if and (ne .Values.certificates.mode "secret") .Values.certificates.caBundle -}}
{{- fail "certificates.caBundle: Forbidden: Muster or cert-manager writes it into the webhooks; leave it out, or set certificates.mode to secret" -}}
{{- end -}}
{{- if and .Values.monitoring.podMonitor.enabled .Values.monitoring.serviceMonitor.enabled -}}
{{- fail "monitoring.serviceMonitor.enabled: Forbidden: every replica would be read twice; disable it or monitoring.podMonitor.enabled" -}}
{{- end -}}
{{- range .Values.modules -}}
{{- if ne 1 (len (compact (list (ternary "x" "" (hasKey . "files")) (ternary "x" "" (hasKey . "configMap")) (ternary "x" "" (hasKey . "image"))))) -}}
{{- fail (printf "modules[%s]: Invalid value: a module comes from one place; give it files, configMap or image" .name) -}}
{{- end -}}
{{- end -}}
{{- end }}
