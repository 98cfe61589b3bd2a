import type { Client } from './client.ts';

export interface NodeSize {
  /** Kubernetes quantities, e.g. `4`, `500m`. Default 8. */
  readonly cpu?: string | number;
  /** Default `16Gi`. */
  readonly memory?: string;
  /** Default 110. */
  readonly pods?: string | number;
  readonly labels?: Readonly<Record<string, string>>;
  /** Extended resources, e.g. `{ 'nvidia.com/gpu': '8' }`. */
  readonly resources?: Readonly<Record<string, string>>;
}

/**
 * Makes a node that the scheduler uses although no kubelet stands behind it. Pods bound to it get their
 * `spec.nodeName` and stay Pending; nobody starts them, and nobody confirms their deletion either, so delete such Pods
 * with `gracePeriodSeconds=0`.
 */
export async function addNode(client: Client, name: string, size: NodeSize = {}): Promise<void> {
  const { cpu = 8, memory = '16Gi', pods = 110, labels = {}, resources = {} } = size;
  const amounts = { cpu: String(cpu), memory, pods: String(pods), ...resources };
  const now = new Date().toISOString();
  await client.ok('POST', '/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
  });
  await client.ok('PATCH', `/api/v1/nodes/${name}/status`, {
    status: {
      capacity: amounts,
      allocatable: amounts,
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          message: 'a node of the test control plane; it has no kubelet',
          lastHeartbeatTime: now,
          lastTransitionTime: now,
        },
      ],
    },
  });
  // Every new node is tainted as not ready by the API server, and only a controller that we do not run lifts that.
  await client.ok('PATCH', `/api/v1/nodes/${name}`, { spec: { taints: null } });
}
