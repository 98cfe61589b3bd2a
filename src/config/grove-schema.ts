import { z } from 'zod';

/**
 * Settings of the Grove operator that Muster does not use. They are accepted so that a Grove user’s file loads unchanged,
 * are validated as Grove validates them, and have no effect.
 */
const unused = (what: string): string => `Accepted because Grove has it, not used: ${what}`;

export const concurrentSyncs = (fallback: number, description: string) =>
  z.int().gt(0).default(fallback).describe(description);

const groveController = (fallback: number, kinds: string) =>
  z
    .strictObject({ concurrentSyncs: concurrentSyncs(fallback, unused(`only Grove reconciles ${kinds}.`)) })
    .prefault({});

export const debuggingSchema = z
  .strictObject({
    enableProfiling: z.boolean().default(false).describe(unused('pprof is a tool for Go programs.')),
    pprofBindHost: z.string().default('127.0.0.1').describe(unused('see enableProfiling.')),
    pprofBindPort: z.int().min(0).max(65535).default(2753).describe(unused('see enableProfiling.')),
  })
  .prefault({});

export const authorizerSchema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe(unused('Muster guards PodGangs and gates; see trustedAccounts.')),
    exemptServiceAccountUserNames: z
      .array(z.string())
      .default([])
      .describe(unused('see trustedAccounts for the accounts that Muster exempts.')),
    reconcilerServiceAccountUserName: z.string().default('').describe(unused('Grove’s chart writes it.')),
  })
  .prefault({});

export const networkSchema = z
  .strictObject({
    autoMNNVLEnabled: z.boolean().default(false).describe(unused('ComputeDomains are Grove’s business.')),
  })
  .prefault({});

export const featureGatesSchema = z
  .record(z.string(), z.boolean())
  .default({})
  .describe(unused('Muster has no feature gates.'));

export const groveControllers = {
  podCliqueSet: groveController(10, 'PodCliqueSets'),
  podClique: groveController(10, 'PodCliques'),
  podCliqueScalingGroup: groveController(5, 'PodCliqueScalingGroups'),
};
