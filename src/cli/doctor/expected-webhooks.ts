import {
  PATH_MUTATE_POD,
  PATH_MUTATE_POD_GANG,
  PATH_VALIDATE_HPC_POLICY,
  PATH_VALIDATE_POD,
  PATH_VALIDATE_POD_GANG,
  PATH_VALIDATE_WORKLOAD,
} from '../../api/names.ts';
import type { GangKind } from '../../workloads/kind.ts';
import { kinds } from '../../workloads/kinds.ts';

export type WebhookKind = 'MutatingWebhookConfiguration' | 'ValidatingWebhookConfiguration';

/** By what it is found, and where it leads. */
export interface NamedWebhook {
  readonly kind: WebhookKind;
  readonly name: string;
  readonly path: string;
}

const mutating = { kind: 'MutatingWebhookConfiguration' } as const;
const validating = { kind: 'ValidatingWebhookConfiguration' } as const;

/** The webhooks of manifests/base; a test compares the two. */
export const EXPECTED_WEBHOOKS: readonly NamedWebhook[] = [
  { ...mutating, name: 'pods.muster.dev', path: PATH_MUTATE_POD },
  { ...mutating, name: 'podgangs.muster.dev', path: PATH_MUTATE_POD_GANG },
  { ...validating, name: 'pods.muster.dev', path: PATH_VALIDATE_POD },
  { ...validating, name: 'podgangs.muster.dev', path: PATH_VALIDATE_POD_GANG },
  { ...validating, name: 'hpcpolicies.muster.dev', path: PATH_VALIDATE_HPC_POLICY },
  { ...mutating, name: 'workload-pods.muster.dev', path: PATH_MUTATE_POD },
  { ...validating, name: 'workload-pods.muster.dev', path: PATH_VALIDATE_POD },
];

/** That of manifests/base which only helps: it is judged by itself. */
export const WORKLOADS_WEBHOOK: NamedWebhook = {
  kind: 'ValidatingWebhookConfiguration',
  name: 'workloads.muster.dev',
  path: PATH_VALIDATE_WORKLOAD,
};

/** What it is asked about: workloads, what makes them, and what can never be one. */
export const askedAbout = (gangs: readonly GangKind[]): readonly { group: string; resource: string }[] =>
  [...gangs, ...kinds.filter(({ gang, children }) => gang === 'never' || children !== undefined)].map(
    ({ group, plural }) => ({ group, resource: plural }),
  );
