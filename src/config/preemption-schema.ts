import { z } from 'zod';

/** Who makes room for a gang: what is said of it beforehand. */
export const preemptionSchema = z
  .strictObject({
    preview: z
      .boolean()
      .default(false)
      .describe(
        'Answer a dry-run creation of a gang, or of the Pod that completes one, with a warning that says whether it would fit and who would have to make room. Off: it watches all Nodes and Pods, in a process of its own, and needs the rights of manifests/components/preview.',
      ),
    previewNames: z
      .enum(['Own', 'All'])
      .default('Own')
      .describe(
        'Whom such a warning may name: units of the gang’s own namespace, or of all. Of other namespaces it otherwise tells numbers and priorities alone, so that a dry run is no window into them.',
      ),
  })
  .prefault({});
