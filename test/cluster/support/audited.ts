import { readFile } from 'node:fs/promises';
import type { ControlPlane } from '../control-plane/control-plane.ts';

/** One request as the API server's audit log has it; a watch is there once it has ended. */
export interface Audited {
  readonly user: string;
  readonly verb: string;
  /** Whether it is a watch that begins with all objects. */
  readonly lists: boolean;
  /** As RBAC names it: `pods`, `podgangs.scheduler.grove.io/status`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly status: number;
  /** Whether RBAC said no; admission's no is not meant. */
  readonly forbidden: boolean;
}

interface Line {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly apiGroup?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Every request of an account that is answered by now, in order, but those for no resource, such as `/version`. */
export async function requestsOf(plane: ControlPlane, user: string): Promise<Audited[]> {
  if (plane.auditLog === undefined) throw new Error('the control plane keeps no audit log');
  const text = await readFile(plane.auditLog, 'utf8');
  // The last line may be half written.
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  return lines
    .filter((line) => line.includes(user))
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line.user.username === user && line.objectRef?.resource !== undefined)
    .map(({ verb, requestURI, objectRef: on = {}, responseStatus, annotations }) => ({
      user,
      verb,
      lists: requestURI.includes('sendInitialEvents=true'),
      resource: [
        [on.resource, ...(on.apiGroup === undefined ? [] : [on.apiGroup])].join('.'),
        ...(on.subresource === undefined ? [] : [on.subresource]),
      ].join('/'),
      namespace: on.namespace ?? '',
      name: on.name ?? '',
      status: responseStatus?.code ?? 0,
      forbidden: annotations?.['authorization.k8s.io/decision'] === 'forbid',
    }));
}
