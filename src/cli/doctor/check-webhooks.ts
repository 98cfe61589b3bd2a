import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { objectName } from '../../k8s/resource.ts';
import {
  EXPECTED_WEBHOOKS,
  WORKLOADS_WEBHOOK,
  type NamedWebhook,
  type WebhookKind,
} from './expected-webhooks.ts';
import { saying, valueOf, type Diagnosis, type Say, type Read } from './diagnosis.ts';

/** Every webhook configuration of the cluster, by kind. */
export type WebhookConfigurations = Readonly<Record<WebhookKind, Read<readonly JsonObject[]>>>;

/** A webhook of Muster's that is registered in the cluster. */
export interface RegisteredWebhook {
  readonly expected: NamedWebhook;
  /** Name of the configuration that holds the webhook. */
  readonly configuration: string;
  /** Index of the webhook in that configuration. */
  readonly index: number;
  readonly webhook: JsonObject;
}

const APPLY = 'kubectl apply -k manifests/base';
/** KAI's webhook reads schedulerName at the time of its call. */
const KAI_WEBHOOK = 'mutating-kai-admission';

/** Muster's webhooks, found by their names in any configuration. */
export const registeredWebhooks = (configurations: WebhookConfigurations): readonly RegisteredWebhook[] =>
  [...EXPECTED_WEBHOOKS, WORKLOADS_WEBHOOK].flatMap((expected) =>
    (valueOf(configurations[expected.kind]) ?? []).flatMap((object) =>
      (ownList(object, 'webhooks') ?? []).flatMap((webhook, index) =>
        ownString(webhook, 'name') === expected.name
          ? [{ expected, configuration: objectName(object), index, webhook: webhook as JsonObject }]
          : [],
      ),
    ),
  );

/**
 * Checks the order and the number of the webhooks' calls, and the path of their URLs. Their other fields are compared with
 * the manifests elsewhere.
 */
export function checkWebhooks(configurations: WebhookConfigurations): readonly Diagnosis[] {
  const registered = registeredWebhooks(configurations);
  const findings = EXPECTED_WEBHOOKS.flatMap((expected) => {
    const { kind, path } = expected;
    const say = saying('webhooks', kind === 'MutatingWebhookConfiguration' ? 'mutating' : 'validating');
    const here = registered.filter((one) => one.expected === expected);
    const wrong = here
      .filter(({ webhook }) => own(own(webhook, 'clientConfig'), 'url') !== undefined)
      .flatMap(({ configuration, webhook }) =>
        checkPath(say, `${expected.name} in ${configuration}`, { webhook, path, fix: APPLY }),
      );
    return [...wrong, ...checkOnce(say, expected, here)];
  });
  return [...findings, ...checkOrder(configurations, registered)];
}

function checkOrder(
  configurations: WebhookConfigurations,
  registered: readonly RegisteredWebhook[],
): Diagnosis[] {
  const say = saying('webhooks', 'order');
  const mutating = (valueOf(configurations.MutatingWebhookConfiguration) ?? []).map(objectName);
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

/** Reports a webhook that is registered more than once: the API server would send each request as often. */
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

/** Reports a webhook that calls a path which Muster does not serve. */
export function checkPath(
  say: Say,
  where: string,
  { webhook, path, fix }: { readonly webhook: JsonObject; readonly path: string; readonly fix: string },
): Diagnosis[] {
  const found = pathOf(webhook);
  if (found === path) return [];
  return [say.problem(`${where} calls ${found || 'no path'}, and Muster answers at ${path}`, fix)];
}

/** The path that the API server calls, of a Service or a URL. */
export function pathOf(webhook: JsonObject): string {
  const client = ownObject(webhook, 'clientConfig');
  const url = ownString(client, 'url');
  if (url !== undefined) return URL.canParse(url) ? new URL(url).pathname : '';
  return ownString(ownObject(client, 'service'), 'path') ?? '';
}

export const strings = (rule: Json, key: string): readonly string[] =>
  (ownList(rule, key) ?? []).filter((item) => typeof item === 'string');

/** Whether a list of a webhook's rule has an item, by its name or by `*`. */
export const has = (list: readonly string[], item: string): boolean =>
  list.includes(item) || list.includes('*');

/** Whether a webhook's rule covers a resource. @param asked without a version: the resource in any version */
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
