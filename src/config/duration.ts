import { z } from 'zod';
import { GO_DURATION } from '../k8s/time.ts';

const NOT_A_DURATION = 'must be a duration such as "15s" or "1m30s"';

/** A duration as Go writes it. */
export const duration = (fallback: string, description: string) =>
  z
    .string({ error: NOT_A_DURATION })
    .regex(GO_DURATION, NOT_A_DURATION)
    .default(fallback)
    .describe(description);
