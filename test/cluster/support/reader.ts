import type { ControlPlane } from '../control-plane/control-plane.ts';
import { until } from '../control-plane/until.ts';

const USER = 'ann';

/**
 * Somebody with the built-in role `view` of one namespace, of which PodGangs are part once a controller manager has put
 * that role together. Gives the kubeconfig when they may list gangs.
 */
export async function readerOf(plane: ControlPlane, namespace: string): Promise<string> {
  const bindings = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`;
  await plane.client.ok('POST', bindings, {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: USER }],
  });
  const kubeconfig = await plane.kubeconfigFor(USER);
  const reader = await plane.clientFor(kubeconfig);
  const gangs = `/apis/scheduler.grove.io/v1alpha1/namespaces/${namespace}/podgangs`;
  await until('a reader may list gangs', async () => (await reader.request('GET', gangs)).status === 200);
  return kubeconfig;
}
