import { own, ownList, ownString, type JsonObject } from '../../../api/json.ts';
import { nameOf } from '../../../api/resource.ts';
import { BINDING_GROUP, PATH_MUTATE_BINDING } from '../../../api/names.ts';
import { checkPath, covers, pathOf } from '../check-webhooks.ts';
import { saying, type Diagnosis } from '../diagnosis.ts';
import { RIGHTS_FIX, valueOf, type Read } from '../read.ts';
import { checkAuthority } from './check-interpreter.ts';

/** What holds new bindings back until their queue lets them through. */
export interface Holding {
  readonly webhooks: Read<readonly JsonObject[]>;
  readonly policies: Read<readonly JsonObject[]>;
  readonly policyBindings: Read<readonly JsonObject[]>;
  /** Whether there are queues at all. */
  readonly definition: Read<JsonObject>;
}

const APPLY = 'kubectl apply -k manifests/karmada/queues, with caBundle as in docs/fleet.md';
const POLICY = 'muster-fleet-queues';
const RESOURCES = ['resourcebindings', 'clusterresourcebindings'];

/** @param wanted whether the configuration has queues; undefined where no configuration is known */
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
        title: `${ownString(webhook, 'name') ?? ''} in ${nameOf(configuration)}`,
        webhook,
      })),
  );
  if (hooks.length === 0)
    return wanted === true || (wanted === undefined && given.definition.state === 'found')
      ? [say.problem('no webhook holds new bindings: schedulers take them past their queues', APPLY)]
      : [say.ok('no queues here: bindings are placed as they come')];
  const wrong = hooks.flatMap(({ title, webhook }) => checkHook(title, webhook));
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
      : [say.ok(`${hooks.map(({ title }) => title).join(', ')} holds new bindings`)]),
    checkPolicy(given),
  ];
}

function checkHook(title: string, webhook: JsonObject): Diagnosis[] {
  const say = saying('webhooks', 'bindings');
  const found = [
    ...checkAuthority(say, title, webhook),
    ...checkPath(say, title, { webhook, path: PATH_MUTATE_BINDING, fix: APPLY }),
  ];
  const lacking = RESOURCES.filter(
    (resource) => !covers(webhook, { group: BINDING_GROUP, operation: 'CREATE', resource }),
  );
  if (lacking.length > 0)
    found.push(say.problem(`${title} is not asked about CREATE of ${lacking.join(' and ')}`, APPLY));
  const policy = ownString(webhook, 'failurePolicy') ?? 'unset';
  // It is Fail where nothing is said.
  if (policy === 'Ignore')
    found.push(
      say.problem(
        `${title} has failurePolicy Ignore: what is made while Muster is down is never held`,
        APPLY,
      ),
    );
  return found;
}

function checkPolicy({ policies, policyBindings }: Holding): Diagnosis {
  const say = saying('policies', 'bindings');
  for (const read of [policies, policyBindings])
    if (read.state === 'unread') return say.notChecked(read.reason, RIGHTS_FIX);
  const there = (valueOf(policies) ?? []).some((one) => nameOf(one) === POLICY);
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
