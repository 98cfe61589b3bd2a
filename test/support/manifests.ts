import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { packageRoot } from '../../src/cli/version.ts';

export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  webhooks?: {
    clientConfig: Record<string, unknown> & { service?: { path?: string } };
    readonly failurePolicy?: string;
    timeoutSeconds?: number;
  }[];
}

/**
 * Every object in the YAML files of a folder of `manifests/`, in the order of their names.
 * @param root of the checkout; default: this one
 */
export async function manifestsIn(folder: string, root = packageRoot() ?? ''): Promise<KubernetesObject[]> {
  const path = join(root, 'manifests', folder);
  const objects: KubernetesObject[] = [];
  for (const file of (await readdir(path)).filter((name) => name.endsWith('.yaml')).sort()) {
    for (const document of parseAllDocuments(await readFile(join(path, file), 'utf8'))) {
      const object = document.toJS() as KubernetesObject | null;
      if (object !== null && !/^(Kustomization|Component)$/.test(object.kind)) objects.push(object);
    }
  }
  return objects;
}

/** Other schedulers than the one that every cluster has: the names of the components with the rights for them. */
export const OTHER_BACKENDS = ['coscheduling', 'kai-scheduler', 'volcano'];

/** Muster's account and its rights: those of the base, and of the components of these backends. */
export async function accountManifests(
  backends: readonly string[] = OTHER_BACKENDS,
  root?: string,
): Promise<KubernetesObject[]> {
  const folders = ['base', ...backends.map((name) => `components/${name}`)];
  const objects = (await Promise.all(folders.map((folder) => manifestsIn(folder, root)))).flat();
  return objects.filter(({ kind }) => /^(Namespace|ServiceAccount|.*Role|.*RoleBinding)$/.test(kind));
}

/**
 * Objects as they ship, but for where the API server finds Muster: outside a cluster there is no Service, so a loopback
 * address stands in for it.
 */
export function calledOnLoopback(objects: KubernetesObject[], port: number, ca: string): KubernetesObject[] {
  const caBundle = Buffer.from(ca).toString('base64');
  for (const webhook of objects.flatMap(({ webhooks = [] }) => webhooks)) {
    const path = webhook.clientConfig.service?.path ?? '/';
    webhook.clientConfig = { url: `https://127.0.0.1:${port}${path}`, caBundle };
  }
  return objects;
}

/** The webhook configurations of the base, called on loopback. */
export async function webhookConfigurations(
  port: number,
  ca: string,
  root?: string,
): Promise<KubernetesObject[]> {
  const shipped = await manifestsIn('base', root);
  return calledOnLoopback(
    shipped.filter(({ kind }) => kind.endsWith('WebhookConfiguration')),
    port,
    ca,
  );
}

/** The webhook that refuses workloads which cannot be gangs, as it ships. */
export async function workloadsWebhook(): Promise<{ clientConfig: object }> {
  const webhooks = (await manifestsIn('base')).flatMap((object) => object.webhooks ?? []);
  const found = webhooks.find((webhook) => (webhook as { name?: string }).name === 'workloads.muster.dev');
  if (found === undefined) throw new Error('manifests/base has no webhook of workloads');
  return found;
}
