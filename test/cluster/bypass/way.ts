import type { Scene } from './scene.ts';

/** Muster runs; its webhook configurations are deleted and its loop runs; it is registered and does not answer. */
export const STATES = ['up', 'gone', 'down'] as const;
export type State = (typeof STATES)[number];

/** Who tries, as docs/reference/attacks.md introduces them. */
export const TRIERS = {
  tenant: 'tenant',
  stranger: 'stranger',
  node: 'node',
  namespaces: 'maker of namespaces',
  webhook: 'another webhook',
  token: 'stolen token',
  author: 'author of a module',
  masters: 'system:masters',
} as const;
export type Trier = keyof typeof TRIERS;

/** What came back: of the API server or, where a stranger asks it directly, of Muster. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Who refuses, as the answer itself tells. */
export type Refuser =
  | { readonly kind: 'policy'; readonly name: string; readonly rule: string }
  | { readonly kind: 'webhook'; readonly name: string; readonly rule: string }
  /** A webhook that has to be asked and cannot be. */
  | { readonly kind: 'unreachable'; readonly name: string }
  | { readonly kind: 'rights' }
  /** The API server's own rules, or Muster's of the wire: the answer contains these words. */
  | { readonly kind: 'api-server' | 'muster'; readonly says: string };

/** How it ends. */
export type End =
  /** Every answer is this one, and what is stored in the namespaces of the scene is as it was. */
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly by: Refuser;
      /** Another policy that refuses as well: which is asked first is the API server's to choose. */
      readonly or?: Refuser;
      readonly note?: string;
    }
  /** It is taken and changes nothing that matters: `then` of the way proves it. */
  | { readonly kind: 'harmless'; readonly status: number; readonly because: string }
  /** It is done, and it is his to do. `then` of the way shows how far it goes. */
  | { readonly kind: 'allowed'; readonly status: number; readonly because: string }
  /** It is done, and that is known: why, and what remains. `then` of the way shows how far it goes. */
  | { readonly kind: 'open'; readonly status: number; readonly because: string };

/** What of `manifests/components` gives Muster's account rights beside the base's, but for those of other schedulers. */
export const COMPONENTS = [
  'hpc',
  'in-cluster-certificates',
  'preemption',
  'preemption-past-budgets',
  'preemption-preview',
  'workloads',
] as const;

export interface Way {
  readonly who: Trier;
  /** Of a stolen token: with which component installed there is a right to try it at all. Absent: with the base alone. */
  readonly component?: (typeof COMPONENTS)[number];
  /** One sentence without its subject. */
  readonly tries: string;
  /** One end for all states, or those of the states in which it is tried. */
  readonly ends: End | Readonly<Partial<Record<State, End>>>;
  /** It takes what others need to try theirs, or is large: tried when they are done. */
  readonly alone?: boolean;
  /** What is there before. Always done while Muster runs. */
  readonly given?: (scene: Scene) => Promise<unknown>;
  readonly attempt: (scene: Scene) => Promise<readonly Answer[]>;
  /** What holds afterwards. */
  readonly then?: (scene: Scene) => Promise<unknown>;
}

/** A way that another test tries, since it needs no control plane or one of another kind. */
export interface WayElsewhere {
  readonly who: Trier;
  readonly tries: string;
  /** What stops it. */
  readonly because: string;
  /** The test, by its file and a part of its name. */
  readonly file: string;
  readonly test: string;
}

const MUSTERS = '.muster.dev';

export const policy = (name: string, rule: string, status = 403): End => ({
  kind: 'refused',
  status,
  by: { kind: 'policy', name: `muster-${name}`, rule },
});
/** Two policies refuse it: the answer is of either. */
export const either = (one: End, other: End): End =>
  one.kind === 'refused' && other.kind === 'refused' ? { ...one, or: other.by } : one;
export const webhook = (name: 'pods' | 'podgangs' | 'workload-pods', rule: string, status = 422): End => ({
  kind: 'refused',
  status,
  by: { kind: 'webhook', name: `${name}${MUSTERS}`, rule },
});
export const unreachable = (name: 'pods' | 'podgangs' | 'workload-pods'): End => ({
  kind: 'refused',
  status: 500,
  by: { kind: 'unreachable', name: `${name}${MUSTERS}` },
});
export const rights: End = { kind: 'refused', status: 403, by: { kind: 'rights' } };
export const apiServer = (status: number, says: string, note?: string): End => ({
  kind: 'refused',
  status,
  by: { kind: 'api-server', says },
  ...(note === undefined ? {} : { note }),
});
export const muster = (status: number, says: string, note?: string): { readonly up: End } => ({
  up: { kind: 'refused', status, by: { kind: 'muster', says }, ...(note === undefined ? {} : { note }) },
});
export const harmless = (status: number, because: string): End => ({ kind: 'harmless', status, because });
export const allowed = (status: number, because: string): End => ({ kind: 'allowed', status, because });
export const open = (status: number, because: string): End => ({ kind: 'open', status, because });

export const endOf = ({ ends }: Way, state: State): End | undefined => ('kind' in ends ? ends : ends[state]);

/** Who refused, read from the answer alone. */
export function refuserOf({ status, body }: Answer): Refuser {
  const text =
    typeof body === 'string' ? body : ((body as { message?: string }).message ?? JSON.stringify(body));
  const rule = /\[(\w+)\]$/.exec(text)?.[1] ?? 'no rule';
  const byPolicy = /ValidatingAdmissionPolicy '([\w-]+)' with binding '[\w-]+' denied request: /.exec(text);
  if (byPolicy?.[1] !== undefined) return { kind: 'policy', name: byPolicy[1], rule };
  const byWebhook = /admission webhook "([\w.-]+)" denied the request: /.exec(text);
  if (byWebhook?.[1] !== undefined) return { kind: 'webhook', name: byWebhook[1], rule };
  const away = /failed calling webhook "([\w.-]+)"/.exec(text);
  if (away?.[1] !== undefined) return { kind: 'unreachable', name: away[1] };
  if (status === 403 && / is forbidden: User "[^"]+" cannot /.test(text)) return { kind: 'rights' };
  return { kind: 'api-server', says: text };
}
