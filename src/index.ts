/** The public surface: what the author of a backend imports. */
export { rules, type RuleName } from './api/rules.ts';
export { fault, type Fault } from './api/fault.ts';
export type { JsonObject } from './api/json.ts';
export type {
  Condition,
  GroupConfig,
  NamespacedName,
  PackConstraint,
  PodGang,
  PodGangSpec,
  PodGroup,
} from './api/pod-gang.ts';
export {
  BACKEND_CONTRACT_VERSION,
  PodRefused,
  type Backend,
  type BackendContext,
  type BackendFactory,
  type PatchSurface,
  type PodGangVerdict,
  type PodPatch,
  type PodReader,
  type SyncContext,
} from './backends/backend.ts';
export type { Membership } from './gang/membership.ts';
