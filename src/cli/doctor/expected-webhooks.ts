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

/** A webhook by its name, with the path that it calls. */
export interface NamedWebhook {
  readonly kind: WebhookKind;
  readonly name: string;
  readonly path: string;
}

const mutating = { kind: 'MutatingWebhookConfiguration' } as const;
const validating = { kind: 'ValidatingWebhookConfiguration' } as const;

/** The webhooks of manifests/base; a test compares both. */
export const EXPECTED_WEBHOOKS: readonly NamedWebhook[] = [
  { ...mutating, name: 'pods.muster.dev', path: PATH_MUTATE_POD },
  { ...mutating, name: 'podgangs.muster.dev', path: PATH_MUTATE_POD_GANG },
  { ...validating, name: 'pods.muster.dev', path: PATH_VALIDATE_POD },
  { ...validating, name: 'podgangs.muster.dev', path: PATH_VALIDATE_POD_GANG },
  { ...validating, name: 'hpcpolicies.muster.dev', path: PATH_VALIDATE_HPC_POLICY },
  { ...mutating, name: 'workload-pods.muster.dev', path: PATH_MUTATE_POD },
  { ...validating, name: 'workload-pods.muster.dev', path: PATH_VALIDATE_POD },
];

/** The optional webhook of manifests/base, which has a check of its own. */
export const WORKLOADS_WEBHOOK: NamedWebhook = {
  kind: 'ValidatingWebhookConfiguration',
  name: 'workloads.muster.dev',
  path: PATH_VALIDATE_WORKLOAD,
};

/** Resources of its rules: workloads, objects that make workloads, and kinds that can never be a gang. */
export const askedAbout = (gangs: readonly GangKind[]): readonly { group: string; resource: string }[] =>
  [...gangs, ...kinds.filter(({ gang, children }) => gang === 'never' || children !== undefined)].map(
    ({ group, plural }) => ({ group, resource: plural }),
  );
