import { own, ownList, ownString, type JsonObject } from '../../../json/json.ts';
import { objectName } from '../../../k8s/resource.ts';
import { BINDING_GROUP, LABEL_FLEET_QUEUE, PATH_MUTATE_BINDING } from '../../../api/names.ts';
import { checkPath, covers, pathOf } from '../check-webhooks.ts';
import { saying, RIGHTS_FIX, valueOf, type Diagnosis, type Say, type Read } from '../diagnosis.ts';
import { checkAuthority } from './check-interpreter.ts';

/** The webhook and the policy that hold new bindings until their queue releases them. */
export interface Holding {
  readonly webhooks: Read<readonly JsonObject[]>;
  readonly policies: Read<readonly JsonObject[]>;
  readonly policyBindings: Read<readonly JsonObject[]>;
  /** CustomResourceDefinition of FleetQueues; absent where there are no queues. */
  readonly definition: Read<JsonObject>;
  /** The Service muster-system/muster, in Karmada's API server. */
  readonly service: Read<JsonObject>;
}

const APPLY = 'kubectl apply -k manifests/karmada/queues, with caBundle as in docs/fleet.md';
const POLICY = 'muster-fleet-queues';
const RESOURCE = 'resourcebindings';

/** Checks that new bindings are held. @param wanted `fleet.queues.enabled`; undefined where no configuration is known */
export function checkHolding(given: Holding, wanted: boolean | undefined): readonly Diagnosis[] {
  const say = saying('webhooks', 'bindings');
  if (given.webhooks.state === 'unread') return [say.notChecked(given.webhooks.reason, RIGHTS_FIX)];
  const hooks = (valueOf(given.webhooks) ?? []).flatMap((configuration) =>
    (ownList(configuration, 'webhooks') ?? [])
      .map((one) => one as JsonObject)
      .filter(
        (one) => pathOf(one) === PATH_MUTATE_BINDING || ownString(one, 'name') === 'bindings.muster.dev',
      )
      .map((webhook) => ({
        title: `${ownString(webhook, 'name') ?? ''} in ${objectName(configuration)}`,
        webhook,
      })),
  );
  if (hooks.length === 0)
    return wanted === true || (wanted === undefined && given.definition.state === 'found')
      ? [say.problem('no webhook holds new bindings: schedulers take them past their queues', APPLY)]
      : [say.ok('no queues here: bindings are placed as they come')];
  const wrong = hooks.flatMap(({ title, webhook }) => checkHook(title, webhook, given.service));
  if (wanted === false)
    wrong.push(
      say.problem(
        'bindings are held, and by the configuration nobody lets them through (fleet.queues.enabled)',
        'set fleet.queues.enabled: true, or kubectl delete -k manifests/karmada/queues',
      ),
    );
  return [
    ...(wrong.length > 0
      ? wrong
      : [
          say.ok(
            `${hooks.map(({ title }) => title).join(', ')} holds new bindings in namespaces with a queue`,
          ),
        ]),
    checkPolicy(given),
  ];
}

function checkHook(title: string, webhook: JsonObject, service: Holding['service']): Diagnosis[] {
  const say = saying('webhooks', 'bindings');
  const found = [
    ...checkAuthority(say, title, webhook),
    ...checkPath(say, title, { webhook, path: PATH_MUTATE_BINDING, fix: APPLY }),
  ];
  if (!covers(webhook, { group: BINDING_GROUP, operation: 'CREATE', resource: RESOURCE }))
    found.push(say.problem(`${title} is not asked about CREATE of ${RESOURCE}`, APPLY));
  if (!selectsQueues(webhook))
    found.push(
      say.problem(
        `${title} is asked about bindings in namespaces without the label ${LABEL_FLEET_QUEUE}, too: while Muster is down none is made there, in a queue or not`,
        APPLY,
      ),
    );
  found.push(...checkService(say, title, webhook, service));
  const policy = ownString(webhook, 'failurePolicy') ?? 'unset';
  // An unset failurePolicy is Fail.
  if (policy === 'Ignore')
    found.push(
      say.problem(
        `${title} has failurePolicy Ignore: what is made while Muster is down is never held`,
        APPLY,
      ),
    );
  return found;
}

/** Whether the webhook selects only namespaces with a queue. */
function selectsQueues(webhook: JsonObject): boolean {
  const selector = own(webhook, 'namespaceSelector');
  return (ownList(selector, 'matchExpressions') ?? []).some(
    (one) => ownString(one, 'key') === LABEL_FLEET_QUEUE && ownString(one, 'operator') === 'Exists',
  );
}

/** Karmada's API server resolves the Service in its own API, where no Pods run: only type ExternalName leads to Muster. */
function checkService(say: Say, title: string, webhook: JsonObject, read: Holding['service']): Diagnosis[] {
  const named = own(own(webhook, 'clientConfig'), 'service');
  if (named === undefined) return [];
  const name = `${ownString(named, 'namespace') ?? ''}/${ownString(named, 'name') ?? ''}`;
  const fix = 'kubectl apply -k manifests/karmada/queues, or give clientConfig a url instead: docs/fleet.md';
  if (read.state === 'unread') return [say.notChecked(read.reason, RIGHTS_FIX)];
  if (read.state === 'absent')
    return [
      say.problem(
        `${title} calls Service ${name}, which Karmada's API server looks up in itself, and there is none: each call fails`,
        fix,
      ),
    ];
  return ownString(own(read.value, 'spec'), 'type') === 'ExternalName'
    ? []
    : [
        say.warning(
          `Service ${name}, which ${title} calls, is no ExternalName: Karmada has no Pods behind it`,
          fix,
        ),
      ];
}

function checkPolicy({ policies, policyBindings }: Holding): Diagnosis {
  const say = saying('policies', 'bindings');
  for (const read of [policies, policyBindings])
    if (read.state === 'unread') return say.notChecked(read.reason, RIGHTS_FIX);
  const there = (valueOf(policies) ?? []).some((one) => objectName(one) === POLICY);
  const denies = (valueOf(policyBindings) ?? []).some((one) => {
    const spec = own(one, 'spec');
    return (
      ownString(spec, 'policyName') === POLICY && (ownList(spec, 'validationActions') ?? []).includes('Deny')
    );
  });
  if (there && denies) return say.ok(`${POLICY}: nobody but Muster lets a held binding go`);
  const what = there ? 'is not bound with Deny' : 'is not installed';
  return say.problem(`${POLICY} ${what}: whoever may write a binding lets it past its queue`, APPLY);
}
