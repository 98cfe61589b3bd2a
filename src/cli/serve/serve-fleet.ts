import { bindingEndpoint } from '../../admission/bindings.ts';
import type { OperatorConfiguration } from '../../config/configuration.ts';
import { interpreterEndpoint } from '../../fleet/interpreter-endpoint.ts';
import type { WebhookEndpoint } from '../../api/webhook-endpoint.ts';
import type { Logger } from '../../telemetry/log.ts';
import { kindsWith, type ConfiguredKind } from '../../workloads/configured-kinds.ts';

/** The paths beside those of the admission reviews, as far as the configuration asks for them. */
export function fleetEndpoints(
  { fleet, workloads }: Pick<OperatorConfiguration, 'fleet' | 'workloads'>,
  log: Logger,
): WebhookEndpoint[] {
  return [
    ...(fleet.interpreter ? [interpreter([...fleet.kinds, ...workloads], log)] : []),
    ...(fleet.queues.enabled ? [holding(log)] : []),
  ];
}

const interpreter = (kinds: readonly ConfiguredKind[], log: Logger): WebhookEndpoint =>
  interpreterEndpoint(kindsWith(kinds), (request, refusal, ms) => {
    const { uid, operation, kind, namespace, name } = request;
    const fields = { uid, operation, kind, namespace, name, ms: Math.round(ms * 1000) / 1000 };
    // Karmada asks again with every change of every workload: what is in order is for those who look for something.
    if (refusal === undefined) log.debug(fields, 'interpreted');
    else log.info({ ...fields, reason: refusal }, 'not interpreted');
  });

/** Of each binding that is held one line; the others are nobody's business. */
const holding = (log: Logger): WebhookEndpoint =>
  bindingEndpoint(({ uid, namespace, kind, dryRun }, held, name, ms) => {
    if (!held) return;
    const fields = { uid, kind: kind.kind, namespace, name, dryRun, ms: Math.round(ms * 1000) / 1000 };
    log.info(fields, 'a new binding is held');
  });
