import { z } from 'zod';
import { SYSTEM_NAMESPACE } from '../api/names.ts';
import { durationSchema } from './module-schema.ts';

const limits = z
  .strictObject({
    victimsPerPlan: z
      .int()
      .min(1)
      .max(256)
      .default(64)
      .describe(
        'Pods that one gang may cost at most; of a plan with more nothing is begun. 256 at most: the plan under way is kept in an annotation.',
      ),
    plansPerMinute: z
      .int()
      .min(1)
      .default(6)
      .describe('Plans that are begun within any minute, of all gangs together; the next ones wait.'),
  })
  .prefault({});

/** Settings of preemption: whether Muster forecasts it, and whether Muster evicts. */
export const preemptionSchema = z
  .strictObject({
    mode: z
      .enum(['Off', 'Act'])
      .default('Off')
      .describe(
        'Act: Muster evicts Pods of lower priority for a gang that its scheduler calls unschedulable, where that scheduler preempts no gangs itself. Off: it evicts nobody. Act needs the rights of manifests/components/preemption.',
      ),
    profiles: z
      .array(z.string().min(1, 'must not be empty'))
      .default([])
      .describe(
        'Scheduler profiles whose gangs it is done for. Empty: all enabled ones whose scheduler preempts no gangs itself. Read only where mode is Act.',
      ),
    after: durationSchema(
      '10s',
      'How long a gang has to be unschedulable first, and how long to wait before a further look.',
    ),
    overridePodDisruptionBudgets: z
      .boolean()
      .default(false)
      .describe(
        'Delete victims that a PodDisruptionBudget protects, where no plan without them exists. Off: such a plan waits.',
      ),
    limits,
    exemptNamespaces: z
      .array(z.string().min(1, 'must not be empty'))
      .default([SYSTEM_NAMESPACE])
      .describe(
        'Namespaces none of whose Pods is ever evicted for a gang. Muster’s own is always one of them.',
      ),
    preview: z
      .boolean()
      .default(false)
      .describe(
        'Answer a dry-run creation of a gang, or of the Pod that completes one, with a warning that says whether it would fit and who would have to make room. Off: it watches all Nodes and Pods, in a process of its own, and needs the rights of manifests/components/preemption-preview.',
      ),
    previewNames: z
      .enum(['Own', 'All'])
      .default('Own')
      .describe(
        'Whom such a warning may name: units of the gang’s own namespace, or of all. Of other namespaces it otherwise tells numbers and priorities alone, so that a dry run is no window into them. Nobody is named without server.webhooks.clientCertificate: whoever reaches the port may say that he is of any namespace.',
      ),
  })
  .prefault({});
