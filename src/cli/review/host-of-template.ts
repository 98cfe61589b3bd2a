import { isObject, own, ownString, type JsonObject } from '../../json/json.ts';

/**
 * The Pod of a template with the host name that its controller gives to the first one, where it gives any: what runs on all
 * Pods of a gang depends on it. A Pod by another controller has none that is known beforehand.
 * @param path of the template in its workload
 */
export function withHost(pod: JsonObject, workload: JsonObject, path: string): JsonObject {
  const spec = own(pod, 'spec');
  if (!isObject(spec) || ownString(spec, 'hostname') !== undefined) return pod;
  const name = ownString(own(workload, 'metadata'), 'name') ?? '';
  const host = hostOf(workload, name, path);
  if (host === undefined || name === '') return pod;
  const { hostname, subdomain } = host;
  const found = ownString(spec, 'subdomain') ?? subdomain;
  return { ...pod, spec: { ...spec, hostname, ...(found !== undefined && { subdomain: found }) } };
}

function hostOf(
  workload: JsonObject,
  name: string,
  path: string,
): { readonly hostname: string; readonly subdomain?: string | undefined } | undefined {
  const spec = own(workload, 'spec');
  switch (ownString(workload, 'kind') ?? '') {
    case 'Job':
      return ownString(spec, 'completionMode') === 'Indexed' ? { hostname: `${name}-0` } : undefined;
    case 'StatefulSet':
      return { hostname: `${name}-0`, subdomain: ownString(spec, 'serviceName') };
    case 'LeaderWorkerSet':
      return { hostname: path.endsWith('leaderTemplate') ? `${name}-0` : `${name}-0-1`, subdomain: name };
    case 'JobSet': {
      const index = Number(/replicatedJobs\[(\d+)\]/.exec(path)?.[1]);
      const jobs = own(spec, 'replicatedJobs');
      const job = Array.isArray(jobs) ? ownString((jobs as readonly JsonObject[])[index], 'name') : undefined;
      const network = own(spec, 'network');
      if (job === undefined || own(network, 'enableDNSHostnames') === false) return undefined;
      return { hostname: `${name}-${job}-0-0`, subdomain: ownString(network, 'subdomain') ?? name };
    }
    default:
      return undefined;
  }
}
