import { ACCOUNT_WAYS } from './table/accounts.ts';
import { CERTIFICATE_WAYS } from './table/certificates.ts';
import { COMPONENT_WAYS } from './table/components.ts';
import { GANG_WAYS } from './table/gangs.ts';
import { GATE_WAYS } from './table/gate.ts';
import { IDENTITY_WAYS } from './table/identity.ts';
import { OBJECT_WAYS } from './table/objects.ts';
import { OTHERS_WAYS } from './table/others.ts';
import { PLACEMENT_WAYS } from './table/placement.ts';
import { STRANGER_WAYS } from './table/stranger.ts';
import { WEBHOOK_WAYS } from './table/webhooks.ts';
import { WORKLOAD_WAYS } from './table/workloads.ts';
import type { Way } from './way.ts';

/** By what is tried, in the order of docs/reference/attacks.md. */
export const TABLE: readonly (readonly [title: string, ways: readonly Way[]])[] = [
  ['The gate', GATE_WAYS],
  ['Which gang a Pod counts for', IDENTITY_WAYS],
  ['Past the scheduler', PLACEMENT_WAYS],
  ['The gang itself', GANG_WAYS],
  ['The gangs of plain workloads', WORKLOAD_WAYS],
  ['What the schedulers count by', OBJECT_WAYS],
  ['Accounts and rights', ACCOUNT_WAYS],
  ['Rights of components', COMPONENT_WAYS],
  ['Certificates in the cluster', CERTIFICATE_WAYS],
  ['Other webhooks', WEBHOOK_WAYS],
  ['Others', OTHERS_WAYS],
  ['The port', STRANGER_WAYS],
];
export const WAYS: readonly Way[] = TABLE.flatMap(([, ways]) => ways);
