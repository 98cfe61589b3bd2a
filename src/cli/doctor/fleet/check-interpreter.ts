import { own, ownList, ownObject, ownString, type JsonObject } from '../../../json/json.ts';
import { objectName, parseGroupVersion } from '../../../k8s/resource.ts';
import { PATH_INTERPRET } from '../../../api/names.ts';
import { operationsToRegister, REVISING } from '../../../fleet/registration.ts';
import { isMultiTemplate } from '../../../workloads/components.ts';
import { titleOf, type WorkloadKind } from '../../../workloads/workload-kind.ts';
import { checkPath, has, pathOf, strings } from '../check-webhooks.ts';
import { saying, RIGHTS_FIX, valueOf, type Diagnosis, type Say, type Read } from '../diagnosis.ts';

/** The interpreters that Karmada asks about workloads. */
export interface Interpreters {
  /** ResourceInterpreterWebhookConfigurations. */
  readonly webhooks: Read<readonly JsonObject[]>;
  /** ResourceInterpreterCustomizations with Lua scripts, which Karmada asks before any webhook. */
  readonly customizations: Read<readonly JsonObject[]>;
}

interface Hook {
  /** `<configuration>/<webhook>`: of several matching webhooks Karmada asks the first in the order of these names. */
  readonly title: string;
  readonly webhook: JsonObject;
  readonly ours: boolean;
}

const APPLY = 'kubectl apply -k manifests/karmada, with caBundle as in docs/fleet.md';
const VERSION = 'v1alpha1';

/**
 * Checks which interpreter Karmada asks about gangs' workloads.
 * @param kinds built-in kinds of workloads; only those with several Pod templates are checked
 * @param wanted whether the configuration has the interpreter; undefined where no configuration is known
 */
export function checkInterpreter(
  { webhooks, customizations }: Interpreters,
  kinds: readonly WorkloadKind[],
  wanted: boolean | undefined,
): readonly Diagnosis[] {
  const gangs = kinds.filter(isMultiTemplate);
  const lua = valueOf(customizations) ?? [];
  return [
    ...checkHooks(webhooks, gangs, wanted),
    ...gangs.flatMap((kind) => lua.filter((one) => isFor(one, kind)).flatMap((one) => checkLua(one, kind))),
    ...(customizations.state === 'unread'
      ? [saying('interpreter', 'customizations').notChecked(customizations.reason, RIGHTS_FIX)]
      : []),
  ];
}

function checkHooks(
  read: Interpreters['webhooks'],
  gangs: readonly WorkloadKind[],
  wanted: boolean | undefined,
): readonly Diagnosis[] {
  const say = saying('interpreter', 'webhooks');
  if (read.state === 'unread') return [say.notChecked(read.reason, RIGHTS_FIX)];
  const hooks = (valueOf(read) ?? []).flatMap(hooksOf).sort((a, b) => (a.title < b.title ? -1 : 1));
  const ours = hooks.filter((hook) => hook.ours);
  const found = [...hooks.flatMap((hook) => checkRevising(hook, gangs)), ...ours.flatMap(checkCall)];
  if (ours.length > 0) found.push(...checkOperations(hooks, gangs));
  else if (wanted === true)
    found.push(say.problem('no webhook calls Muster: Karmada does not ask it about any workload', APPLY));
  if (found.length > 0) return found;
  return ours.length === 0
    ? [say.ok('Muster is not registered: Karmada asks others about workloads')]
    : [say.ok(`${ours.map(({ title }) => title).join(', ')} asks Muster about ${gangs.length} kinds`)];
}

const hooksOf = (configuration: JsonObject): Hook[] =>
  (ownList(configuration, 'webhooks') ?? []).map((one) => {
    const webhook = one as JsonObject;
    const name = ownString(webhook, 'name') ?? '';
    const ours = pathOf(webhook) === PATH_INTERPRET || name.endsWith('interpreter.muster.dev');
    return { title: `${objectName(configuration)}/${name}`, webhook, ours };
  });

/** Karmada asks for a revision to 0 Pods of every gang. Muster changes nothing then; other interpreters remove all Pods. */
function checkRevising({ title, webhook, ours }: Hook, gangs: readonly WorkloadKind[]): Diagnosis[] {
  const say = saying('interpreter', 'revising');
  const kinds = gangs.filter((kind) => covers(webhook, REVISING, kind)).map(titleOf);
  if (kinds.length === 0) return [];
  const what = `${title} is asked for ${REVISING} of ${kinds.join(', ')}: Karmada asks for 0 Pods of each gang, in every cluster`;
  const fix = `take ${REVISING} out of its rules for them`;
  return ours
    ? [say.warning(`${what}; Muster changes nothing then, and revises only gangs with one template`, fix)]
    : [say.problem(what, fix)];
}

/** Checks the path, the CA, the version and the timeout of Karmada's calls. */
function checkCall({ title, webhook }: Hook): Diagnosis[] {
  const say = saying('interpreter', 'call');
  const found = [
    ...checkPath(say, title, { webhook, path: PATH_INTERPRET, fix: APPLY }),
    ...checkAuthority(say, title, webhook),
  ];
  if (!strings(webhook, 'interpreterContextVersions').includes(VERSION))
    found.push(say.problem(`${title} does not take ${VERSION} (interpreterContextVersions)`, APPLY));
  if (typeof own(webhook, 'timeoutSeconds') !== 'number')
    found.push(
      say.warning(
        `${title} sets no timeoutSeconds: Karmada waits for 30 s`,
        `set timeoutSeconds: 5 (${APPLY})`,
      ),
    );
  return found;
}

/** Checks that the `caBundle` holds a certificate: without one the caller does not trust Muster's certificate. */
export function checkAuthority(say: Say, title: string, webhook: JsonObject): Diagnosis[] {
  const bundle = ownString(own(webhook, 'clientConfig'), 'caBundle') ?? '';
  const fix = 'put the CA of Muster’s certificate into clientConfig.caBundle: docs/fleet.md';
  if (bundle === '')
    return [
      say.problem(`${title} has no caBundle: Muster's certificate is not trusted, and each call fails`, fix),
    ];
  return Buffer.from(bundle, 'base64').toString('latin1').includes('-----BEGIN CERTIFICATE-----')
    ? []
    : [say.problem(`the caBundle of ${title} is no certificate in base64`, fix)];
}

/** Reports operations for which Karmada does not ask Muster, or asks another webhook first. */
function checkOperations(hooks: readonly Hook[], gangs: readonly WorkloadKind[]): Diagnosis[] {
  const say = saying('interpreter', 'operations');
  const lacking = new Map<string, string[]>();
  const taken = new Map<string, string[]>();
  for (const kind of gangs)
    for (const operation of operationsToRegister(kind)) {
      const asked = hooks.filter(({ webhook }) => covers(webhook, operation, kind));
      const [first] = asked;
      if (!asked.some(({ ours }) => ours)) lacking.getOrInsert(titleOf(kind), []).push(operation);
      else if (first?.ours === false) taken.getOrInsert(first.title, []).push(`${operation} of ${kind.kind}`);
    }
  const byOperations = Map.groupBy(lacking, ([, operations]) => operations.join(', '));
  return [
    ...[...byOperations].map(([operations, kinds]) =>
      say.warning(
        `Muster is not asked for ${operations} of ${kinds.map(([kind]) => kind).join(', ')}`,
        APPLY,
      ),
    ),
    ...[...taken].map(([title, what]) =>
      say.warning(
        `${title} is asked before Muster, and alone, for ${what.join(', ')}`,
        'take that out of its rules, or give it a name that sorts later',
      ),
    ),
  ];
}

/** The field of a customization whose Lua script answers an operation. */
const LUA: Readonly<Record<string, string>> = {
  componentResource: 'InterpretComponent',
  replicaRevision: REVISING,
  retention: 'Retain',
  statusReflection: 'InterpretStatus',
  statusAggregation: 'AggregateStatus',
  healthInterpretation: 'InterpretHealth',
  dependencyInterpretation: 'InterpretDependency',
};

const isFor = (customization: JsonObject, { group, kind }: WorkloadKind): boolean => {
  const target = own(own(customization, 'spec'), 'target');
  const apiVersion = ownString(target, 'apiVersion') ?? '';
  return parseGroupVersion(apiVersion).group === group && ownString(target, 'kind') === kind;
};

function checkLua(customization: JsonObject, kind: WorkloadKind): Diagnosis[] {
  const say = saying('interpreter', 'customizations');
  const told = Object.keys(ownObject(own(customization, 'spec'), 'customizations') ?? {});
  const operations = told.flatMap((part) => (Object.hasOwn(LUA, part) ? (LUA[part] ?? []) : []));
  const name = `ResourceInterpreterCustomization ${objectName(customization)}`;
  if (operations.includes(REVISING)) {
    const what = `${name} revises replicas of ${titleOf(kind)}: Karmada asks it for 0 Pods of each gang, in every cluster`;
    return [say.problem(what, 'take spec.customizations.replicaRevision out of it')];
  }
  return operations.length === 0
    ? []
    : [
        say.warning(
          `${name} is asked before Muster for ${operations.join(', ')} of ${titleOf(kind)}`,
          'delete it, or leave those to it knowingly',
        ),
      ];
}

const covers = (webhook: JsonObject, operation: string, { group, kind }: WorkloadKind): boolean =>
  (ownList(webhook, 'rules') ?? []).some(
    (rule) =>
      has(strings(rule, 'operations'), operation) &&
      has(strings(rule, 'apiGroups'), group) &&
      has(strings(rule, 'kinds'), kind),
  );
