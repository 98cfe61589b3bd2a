import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../api/json.ts';
import { nameOf } from '../../api/resource.ts';
import { LABEL_GANG, LABEL_POD_GANG } from '../../api/names.ts';
import {
  EXPECTED_WEBHOOKS,
  WORKLOADS_WEBHOOK,
  type ExpectedWebhook,
  type NamedWebhook,
  type WebhookKind,
} from './expected-webhooks.ts';
import { saying, type Diagnosis, type Say } from './diagnosis.ts';
import { RIGHTS_FIX, valueOf, type Read } from './read.ts';

/** Every webhook configuration of the cluster, by kind. */
export type WebhookConfigurations = Readonly<Record<WebhookKind, Read<readonly JsonObject[]>>>;

/** One of Muster's webhooks, as the cluster has it. */
export interface RegisteredWebhook {
  readonly expected: NamedWebhook;
  /** Name of the configuration that it is in. */
  readonly configuration: string;
  readonly webhook: JsonObject;
}

const APPLY = 'kubectl apply -k manifests/base';
/** KAI's webhook looks at schedulerName when it is called. */
const KAI_WEBHOOK = 'mutating-kai-admission';
/** Seconds: asked twice and validated once must fit into a request of 34. */
const TIMEOUT = { least: 2, most: 10 };

/** Muster's webhooks, found by their names in whatever configuration. */
export const registeredWebhooks = (configurations: WebhookConfigurations): readonly RegisteredWebhook[] =>
  [...EXPECTED_WEBHOOKS, WORKLOADS_WEBHOOK].flatMap((expected) =>
    (valueOf(configurations[expected.kind]) ?? []).flatMap((object) =>
      (ownList(object, 'webhooks') ?? [])
        .filter((webhook) => ownString(webhook, 'name') === expected.name)
        .map((webhook) => ({ expected, configuration: nameOf(object), webhook: webhook as JsonObject })),
    ),
  );

/** Whether each webhook is there, and asks for what Muster answers. */
export function checkWebhooks(configurations: WebhookConfigurations): readonly Diagnosis[] {
  const registered = registeredWebhooks(configurations);
  const findings = EXPECTED_WEBHOOKS.flatMap((expected) => {
    const { kind, name } = expected;
    const say = saying('webhooks', kind === 'MutatingWebhookConfiguration' ? 'mutating' : 'validating');
    const read = configurations[kind];
    if (read.state === 'unread') return [say.notChecked(`${name}: ${read.reason}`, RIGHTS_FIX)];
    const here = registered.filter((one) => one.expected === expected);
    const [first] = here;
    if (first === undefined) {
      return [say.problem(`no ${kind} has the webhook ${name}: its objects do not come to Muster`, APPLY)];
    }
    const wrong = [...here.flatMap((one) => checkWebhook(one, expected)), ...checkOnce(say, expected, here)];
    return wrong.length > 0
      ? wrong
      : [say.ok(`${name} in ${first.configuration} sends ${sent(expected)} to ${expected.path}`)];
  });
  return [...findings, ...checkOrder(configurations, registered)];
}

const sent = ({ operations, resources }: ExpectedWebhook): string =>
  `${operations.join(' and ')} of ${resources.join(' and ')}`;

function checkWebhook({ configuration, webhook }: RegisteredWebhook, expected: ExpectedWebhook): Diagnosis[] {
  const { kind, name, path, gangsOnly } = expected;
  const mutating = kind === 'MutatingWebhookConfiguration';
  const say = saying('webhooks', mutating ? 'mutating' : 'validating');
  const where = `${name} in ${configuration}`;
  const findings = checkPath(say, where, { webhook, path, fix: APPLY });
  const lacking = lackingIn(webhook, expected);
  if (lacking.length > 0) {
    findings.push(say.problem(`${where} is not asked about ${lacking.join(', ')}`, APPLY));
  }
  const excess = excessIn(webhook, expected);
  if (excess.length > 0) {
    const what = `${where} is also asked about ${excess.join(', ')}: those wait for Muster when it is down`;
    findings.push(say.warning(what, APPLY));
  }
  if (gangsOnly && !asksForGangsOnly(webhook)) {
    const what = `${where} has no objectSelector for the label ${LABEL_POD_GANG}: every Pod of the cluster waits for Muster`;
    findings.push(say.problem(what, APPLY));
  }
  const policy = ownString(webhook, 'failurePolicy');
  if (policy !== 'Fail') {
    const what = `${where} has failurePolicy ${policy ?? 'unset'}: while Muster is down its objects come in unprepared`;
    findings.push(say.warning(what, `set failurePolicy: Fail (${APPLY})`));
  }
  const timeout = own(webhook, 'timeoutSeconds');
  if (typeof timeout !== 'number' || timeout < TIMEOUT.least || timeout > TIMEOUT.most) {
    const what = `${where} has timeoutSeconds ${typeof timeout === 'number' ? timeout : 'unset'}: ${TIMEOUT.least} to ${TIMEOUT.most} leave room for a second try within one request`;
    findings.push(say.warning(what, `set timeoutSeconds: 5 (${APPLY})`));
  }
  if (mutating && ownString(webhook, 'reinvocationPolicy') !== 'IfNeeded') {
    const what = `${where} is not called again when a later webhook changes the object (reinvocationPolicy)`;
    findings.push(say.warning(what, `set reinvocationPolicy: IfNeeded (${APPLY})`));
  }
  return findings;
}

function checkOrder(
  configurations: WebhookConfigurations,
  registered: readonly RegisteredWebhook[],
): Diagnosis[] {
  const say = saying('webhooks', 'order');
  const mutating = (valueOf(configurations.MutatingWebhookConfiguration) ?? []).map(nameOf);
  const ours = registered.find(({ expected }) => expected.path.startsWith('/mutate-v1-'))?.configuration;
  if (ours === undefined || !mutating.includes(KAI_WEBHOOK)) return [];
  return ours < KAI_WEBHOOK
    ? [say.ok(`${ours} is called before ${KAI_WEBHOOK}`)]
    : [
        say.problem(
          `${ours} is called after ${KAI_WEBHOOK}, which then sees Pods that Muster has not prepared`,
          `give the configuration a name that sorts before it, as in manifests/base (muster)`,
        ),
      ];
}

/** Each request comes as often as the webhook is registered. */
export function checkOnce(
  say: Say,
  { kind, name }: NamedWebhook,
  here: readonly Pick<RegisteredWebhook, 'configuration'>[],
): Diagnosis[] {
  if (here.length <= 1) return [];
  const names = here.map(({ configuration }) => configuration).join(' and ');
  return [
    say.warning(
      `${name} is registered ${here.length} times, in ${names}: each request comes as often`,
      `kubectl delete ${kind.toLowerCase()} with the name that is not Muster’s`,
    ),
  ];
}

/** Whether a webhook calls where Muster answers. */
export function checkPath(
  say: Say,
  where: string,
  { webhook, path, fix }: { readonly webhook: JsonObject; readonly path: string; readonly fix: string },
): Diagnosis[] {
  const found = pathOf(webhook);
  if (found === path) return [];
  return [say.problem(`${where} calls ${found || 'no path'}, and Muster answers at ${path}`, fix)];
}

/** Where the API server sends it: of a Service or of a URL. */
export function pathOf(webhook: JsonObject): string {
  const client = ownObject(webhook, 'clientConfig');
  const url = ownString(client, 'url');
  if (url !== undefined) return URL.canParse(url) ? new URL(url).pathname : '';
  return ownString(ownObject(client, 'service'), 'path') ?? '';
}

export const strings = (rule: Json, key: string): readonly string[] =>
  (ownList(rule, key) ?? []).filter((item) => typeof item === 'string');

/** Whether a rule asks for an item: by its name, or for all. */
export const has = (list: readonly string[], item: string): boolean =>
  list.includes(item) || list.includes('*');

/** `CREATE pods`, for each that no rule covers. */
const lackingIn = (
  webhook: JsonObject,
  { group, version, operations, resources }: ExpectedWebhook,
): string[] =>
  operations.flatMap((operation) =>
    resources.flatMap((resource) =>
      covers(webhook, { group, version, operation, resource }) ? [] : [`${operation} ${resource}`],
    ),
  );

/** Whether a rule asks for it. @param asked without a version: in any */
export const covers = (
  webhook: JsonObject,
  asked: {
    readonly group: string;
    readonly version?: string;
    readonly operation: string;
    readonly resource: string;
  },
): boolean =>
  (ownList(webhook, 'rules') ?? []).some((rule) => {
    const [versions, resources] = [strings(rule, 'apiVersions'), strings(rule, 'resources')];
    return (
      has(strings(rule, 'apiGroups'), asked.group) &&
      (asked.version === undefined || has(versions, asked.version)) &&
      has(strings(rule, 'operations'), asked.operation) &&
      (has(resources, asked.resource) || resources.includes('*/*'))
    );
  });

const excessIn = (webhook: JsonObject, { operations, resources }: ExpectedWebhook): string[] => [
  ...new Set(
    (ownList(webhook, 'rules') ?? []).flatMap((rule) => [
      ...strings(rule, 'operations').filter((item) => !operations.includes(item)),
      ...strings(rule, 'resources').filter((item) => !resources.includes(item)),
    ]),
  ),
];

const asksForGangsOnly = (webhook: JsonObject): boolean =>
  (ownList(ownObject(webhook, 'objectSelector'), 'matchExpressions') ?? []).some(
    (expression) =>
      [LABEL_POD_GANG, LABEL_GANG].includes(ownString(expression, 'key') ?? '') &&
      ownString(expression, 'operator') === 'Exists',
  );
