import { z } from 'zod';
import { GO_DURATION } from '../k8s/time.ts';

/** The name of a third party's module, in entries that may have one. */
export const moduleName = (description: string) =>
  z.string().min(1, 'must not be empty').describe(description);

/** The `config` of an entry, which its module validates. */
export const moduleConfig = z
  .record(z.string(), z.unknown())
  .default({})
  .describe('What its `configure()` is given.');

export const integrity = z
  .string()
  .regex(
    /^(sha256-[A-Za-z0-9+/]{43}=|sha512-[A-Za-z0-9+/]{86}==)$/,
    'must be "sha512-" or "sha256-" and the hash of the file in base64',
  )
  .optional()
  .describe('What the module’s file must be, or Muster does not start: `sha512-…` or `sha256-…`.');

const NOT_A_DURATION = 'must be a duration such as "15s" or "1m30s"';

/** A duration in Go's format. */
export const durationSchema = (fallback: string, description: string) =>
  z
    .string({ error: NOT_A_DURATION })
    .regex(GO_DURATION, NOT_A_DURATION)
    .default(fallback)
    .describe(description);

/** A duration in Go's format that may be absent. */
export const optionalDuration = (description: string) =>
  z.string({ error: NOT_A_DURATION }).regex(GO_DURATION, NOT_A_DURATION).optional().describe(description);
