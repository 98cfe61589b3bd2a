import type { OperatorConfiguration } from './configuration.ts';
import { formatGoDuration } from './go-duration.ts';
import { CONFIG_API_VERSION, CONFIG_KIND } from './schema.ts';

/**
 * A configuration as the document that gives it: every default written out, the short form spelled as
 * profiles. What an operator wants to see when asking which settings are in force.
 */
export function toDocument(configuration: OperatorConfiguration): Readonly<Record<string, unknown>> {
  const { schedulers, leaderElection, ...plain } = configuration;
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs, ...lock } = leaderElection;
  return {
    apiVersion: CONFIG_API_VERSION,
    kind: CONFIG_KIND,
    scheduler: schedulers,
    ...plain,
    leaderElection: {
      ...lock,
      leaseDuration: formatGoDuration(leaseDurationMs),
      renewDeadline: formatGoDuration(renewDeadlineMs),
      retryPeriod: formatGoDuration(retryPeriodMs),
    },
  };
}
