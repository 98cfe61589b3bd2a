import { isObject, own, ownList, type JsonObject } from '../json/json.ts';
import {
  ANNOTATION_FLEET_TERMS,
  BINDING_GROUP,
  BINDING_KINDS,
  BINDING_VERSION,
  PATH_MUTATE_BINDING,
  TERMS_UNREAD,
} from '../api/names.ts';
import { quoted } from '../text/printable.ts';
import type { WebhookEndpoint, WebhookResponse } from '../api/webhook-endpoint.ts';
import { BadRequest } from '../errors.ts';
import { renderResponse } from './response.ts';
import {
  nameOfRequest,
  decision,
  parseReview,
  untouched,
  type AdmissionRequest,
  type Decision,
} from './review.ts';

import { ObjectEdit } from './pod-patch.ts';

/**
 * Holds a new binding back from Karmada's schedulers until the loop has read the annotations of its workload and its policy,
 * which the binding does not have and admission does not read. Not held: bindings of a workload's dependencies, which have
 * no placement, and bindings of workloads without Pods.
 */
function holdBinding({ object, operation, subResource }: AdmissionRequest): Decision {
  const spec = own(object, 'spec');
  if (operation !== 'CREATE' || subResource !== '' || !isObject(spec)) return untouched();
  if (!isObject(own(spec, 'placement')) || !runsPods(spec)) return untouched();
  const suspension = new ObjectEdit('/spec/suspension', own(spec, 'suspension'));
  suspension.set('scheduling', true, 'held until its queue lets it through');
  const annotations = new ObjectEdit('/metadata/annotations', own(own(object, 'metadata'), 'annotations'));
  annotations.set(ANNOTATION_FLEET_TERMS, TERMS_UNREAD, 'what its workload and its policy say is to be read');
  return decision({ changes: annotations.changes(suspension.changes()) });
}

/** Whether a binding's workload runs Pods, by the fields that Karmada writes for workloads with replicas. */
const runsPods = (spec: JsonObject): boolean =>
  Number(own(spec, 'replicas') ?? 0) > 0 ||
  isObject(own(spec, 'replicaRequirements')) ||
  (ownList(spec, 'components') ?? []).length > 0;

/** The path for Karmada's API server, beside those of `admissionEndpoints`. */
export const bindingEndpoint = (
  decided: (request: AdmissionRequest, held: boolean, name: string, ms: number) => void,
): WebhookEndpoint => ({
  path: PATH_MUTATE_BINDING,
  handle: ({ body }): WebhookResponse => {
    const request = parseReview(body);
    const { group, version, kind } = request.kind;
    if (group !== BINDING_GROUP || version !== BINDING_VERSION || !BINDING_KINDS.includes(kind)) {
      const found = `${group || 'core'}/${version} ${kind}`;
      throw new BadRequest(
        `request.kind: unexpected kind ${quoted(found)}: ${PATH_MUTATE_BINDING} takes ${BINDING_GROUP}/${BINDING_VERSION} ${BINDING_KINDS.join(' and ')}`,
      );
    }
    const done = holdBinding(request);
    const held = done.changes.length > 0;
    return {
      body: renderResponse(request, done),
      operation: request.operation,
      outcome: held ? 'patched' : 'allowed',
      sent: (ms) => decided(request, held, nameOfRequest(request), ms),
    };
  },
});
