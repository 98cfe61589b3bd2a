import type { Resource } from '../../k8s/resource.ts';

const ADMISSION = 'admissionregistration.k8s.io';
const RBAC = 'rbac.authorization.k8s.io';
const CERTIFICATES = 'cert-manager.io';
const MONITORING = 'monitoring.coreos.com';

/** @param kind `apps/v1 Deployment deployments` */
function resource(words: string, namespaced: boolean): Resource {
  const [groupVersion = '', kind = '', plural = ''] = words.split(' ');
  const [version = '', group = ''] = groupVersion.split('/').reverse();
  return { group, version, plural, kind, namespaced };
}

/** Kinds that refuse; a binding goes before its policy, which the API server would otherwise miss. */
export const REFUSING: readonly Resource[] = [
  `${ADMISSION}/v1 ValidatingAdmissionPolicyBinding validatingadmissionpolicybindings`,
  `${ADMISSION}/v1 ValidatingAdmissionPolicy validatingadmissionpolicies`,
  `${ADMISSION}/v1 ValidatingWebhookConfiguration validatingwebhookconfigurations`,
].map((words) => resource(words, false));

/** Kinds that prepare and gate Pods. */
export const CHANGING: readonly Resource[] = [
  `${ADMISSION}/v1 MutatingWebhookConfiguration mutatingwebhookconfigurations`,
  `${ADMISSION}/v1 MutatingAdmissionPolicyBinding mutatingadmissionpolicybindings`,
  `${ADMISSION}/v1 MutatingAdmissionPolicy mutatingadmissionpolicies`,
].map((words) => resource(words, false));

export const DEPLOYMENTS: Resource = resource('apps/v1 Deployment deployments', true);

export const CLUSTER_RIGHTS: readonly Resource[] = [
  `${RBAC}/v1 ClusterRoleBinding clusterrolebindings`,
  `${RBAC}/v1 ClusterRole clusterroles`,
].map((words) => resource(words, false));

/** Kinds in Muster's own namespace, which are deleted one by one where the namespace stays. */
export const IN_NAMESPACE: readonly Resource[] = [
  `${MONITORING}/v1 ServiceMonitor servicemonitors`,
  `${MONITORING}/v1 PodMonitor podmonitors`,
  `${MONITORING}/v1 PrometheusRule prometheusrules`,
  `${CERTIFICATES}/v1 Certificate certificates`,
  `${CERTIFICATES}/v1 Issuer issuers`,
  'v1 Service services',
  'policy/v1 PodDisruptionBudget poddisruptionbudgets',
  'networking.k8s.io/v1 NetworkPolicy networkpolicies',
  'v1 ResourceQuota resourcequotas',
  `${RBAC}/v1 RoleBinding rolebindings`,
  `${RBAC}/v1 Role roles`,
  'v1 ServiceAccount serviceaccounts',
  'v1 ConfigMap configmaps',
  'v1 Secret secrets',
  'coordination.k8s.io/v1 Lease leases',
].map((words) => resource(words, true));

export const DEFINITIONS: Resource = resource(
  'apiextensions.k8s.io/v1 CustomResourceDefinition customresourcedefinitions',
  false,
);
