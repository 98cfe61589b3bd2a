import type { Client } from '../control-plane/client.ts';
import { until } from '../control-plane/until.ts';

interface Applied {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/**
 * Server-side apply of objects of any kind, in their order. `kubectl apply` does the same and reads the whole discovery
 * first, which costs more than everything else of a suite's start.
 */
export async function applyAll(client: Client, objects: readonly Applied[]): Promise<void> {
  const query = { fieldManager: 'tests', force: true };
  const contentType = 'application/apply-patch+yaml';
  for (const object of objects) {
    const path = pathOf(object);
    // Two that create the same at once: the later one is told so, and may try again.
    await until(`${object.kind} ${object.metadata.name} is stored`, async () => {
      const { status, body } = await client.request('PATCH', path, object, { query, contentType });
      if (status < 300) return true;
      throw new Error(`${status} ${JSON.stringify(body)}`);
    });
  }
}

/** Until each definition is established, and the API server serves its objects, which is a moment later. */
export async function untilEstablished(client: Client, definitions: readonly Applied[]): Promise<void> {
  for (const definition of definitions) {
    await until(`${definition.metadata.name} is served`, async () => {
      const { spec, status } = await client.ok<Definition>('GET', pathOf(definition));
      if (!status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True'))
        return false;
      for (const { name } of spec.versions.filter(({ served }) => served)) {
        const root = `/apis/${spec.group}/${name}`;
        const { resources } = await client.ok<{ resources: readonly { name: string }[] }>('GET', root);
        if (!resources.some((one) => one.name === spec.names.plural)) return false;
        await client.ok('GET', `${root}/${spec.names.plural}`);
      }
      return true;
    });
  }
}

const CLUSTER_WIDE =
  /^(Namespace|Cluster.*|CustomResourceDefinition|.*WebhookConfiguration|.*AdmissionPolicy(Binding)?)$/;

export function pathOf({ apiVersion = 'v1', kind, metadata }: Applied): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const plural = kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`;
  const within = CLUSTER_WIDE.test(kind) ? '' : `/namespaces/${metadata.namespace ?? 'default'}`;
  return `${root}${within}/${plural.toLowerCase()}/${metadata.name}`;
}
