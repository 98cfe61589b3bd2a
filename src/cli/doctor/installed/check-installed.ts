import { ownList, ownObject, ownString, type Json, type JsonObject } from '../../../json/json.ts';
import { printable } from '../../../text/printable.ts';
import { objectName } from '../../../k8s/resource.ts';
import type { PatchOperation } from '../../../json/patch.ts';
import {
  applyCommand,
  deleteCommand,
  patchCommand,
  saying,
  RIGHTS_FIX,
  valueOf,
  type Diagnosis,
  type Group,
  type CheckResult,
  type Read,
} from '../diagnosis.ts';
import { withDefaults, narrowed, type Selectors } from './equivalence.ts';
import { differences, type Difference } from './differences.ts';
import { judge, type KindOfObject, type Weight } from './judgement.ts';
import { EXACT, judgedKind, KINDS, meantIn, WHOLE } from './kinds.ts';
import { componentsIn, identityOf, kindName, type Identity, type Shipped } from './wanted.ts';

/** The manifests of this version, and the objects of the cluster to compare with them. */
export interface Installed {
  readonly shipped: Shipped;
  readonly live: (identity: Identity) => Read<JsonObject>;
  /** All objects of the kinds that the API server consults at admission: webhook configurations and policies. */
  readonly lists: Readonly<Record<string, Read<readonly JsonObject[]>>>;
  /** Kinds that the cluster does not serve. */
  readonly unserved: ReadonlySet<string>;
  /** Selectors of the gangs that Muster is responsible for; the webhooks' selectors may be narrowed by them. */
  readonly selectors: Selectors;
}

const DEFINITION_OF_OTHERS = 'controller-gen.kubebuilder.io/version';
const PART_OF = 'app.kubernetes.io/part-of';
const FIX = '`muster doctor --fix` prints the command';

/** Compares every object of this version's manifests with the cluster, field by field. */
export function checkInstalled({
  shipped,
  live,
  lists,
  unserved,
  selectors,
}: Installed): readonly Diagnosis[] {
  const here = (identity: Identity): JsonObject | undefined => valueOf(live(identity));
  const components = componentsIn(shipped, here);
  const all = shipped.wanted(components, !unserved.has('MutatingAdmissionPolicy'));
  const certManager = all.some(
    (object) =>
      (kindName(object) === 'Certificate' && here(identityOf(object)) !== undefined) ||
      (isWebhooks(object) && meantIn(here(identityOf(object)) ?? null, 'annotations').length > 0),
  );
  const inCluster = all.some(
    (object) =>
      (kindName(object) === 'Deployment' && live(identityOf(object)).state !== 'absent') ||
      (isWebhooks(object) && callsService(here(identityOf(object)))),
  );
  const results = all.flatMap((object): readonly Result[] => {
    const kind = judgedKind(object);
    if (kind === undefined || unserved.has(kindName(object))) return [];
    if (kind.inCluster && !inCluster) return [];
    if (!certManager && kind.check === 'issuer') return [];
    const read = live(identityOf(object));
    if (read.state === 'found' && isOfOthers(object, read.value)) return [];
    const wanted = withDefaults(isWebhooks(object) ? narrowed(object, valueOf(read), selectors) : object);
    return checkObject(kind, wanted, read, certManager);
  });
  const names = components.map(({ name }) => name).join(', ');
  return [
    ...merged(results),
    ...checkLeftOver(shipped, lists),
    ...(components.length === 0 ? [] : [saying('program', 'components').ok(`installed with ${names}`)]),
    ...notes(results),
  ];
}

const isWebhooks = (object: JsonObject): boolean => kindName(object).endsWith('WebhookConfiguration');

const callsService = (object: JsonObject | undefined): boolean =>
  (ownList(object ?? null, 'webhooks') ?? []).some(
    (webhook) => ownObject(ownObject(webhook, 'clientConfig'), 'service') !== undefined,
  );

/** A CustomResourceDefinition that Grove’s chart installed belongs to Grove. */
const isOfOthers = (wanted: JsonObject, found: JsonObject): boolean =>
  kindName(wanted) === 'CustomResourceDefinition' &&
  ownString(ownObject(found['metadata'], 'annotations'), DEFINITION_OF_OTHERS) !== undefined;

/** Reports policies and webhooks of another version: they remain in effect, and `kubectl apply` deletes nothing. */
const checkLeftOver = (shipped: Shipped, lists: Installed['lists']): readonly Diagnosis[] =>
  Object.entries(lists).flatMap(([kind, read]) =>
    (valueOf(read) ?? [])
      .filter((object) => ownString(ownObject(object['metadata'], 'labels'), PART_OF) === 'muster')
      .filter((object) => !shipped.isShipped(kind, objectName(object)))
      .map((object): Diagnosis => {
        const { group, check } = KINDS[kind] ?? { group: 'policies' as const, check: 'validating' };
        const found = `${kind} ${objectName(object)} is labelled as Muster’s, and this version ships none of that name: it judges all the same`;
        const identity = { ...object, kind, apiVersion: 'admissionregistration.k8s.io/v1' };
        const fix = `kubectl delete it, if nobody else needs it: ${FIX}`;
        return { ...saying(group, check).warning(found, fix), commands: [deleteCommand(identity)] };
      }),
  );

interface Result {
  readonly group: Group;
  readonly check: string;
  readonly weight: Weight | 'same' | 'unread';
  readonly text: string;
  readonly fix?: string;
  readonly commands?: readonly string[];
}

function checkObject(
  kind: KindOfObject,
  wanted: JsonObject,
  read: Read<JsonObject>,
  certManager: boolean,
): readonly Result[] {
  const { group, check } = kind;
  const name = `${kindName(wanted)} ${objectName(wanted)}`;
  if (read.state === 'unread') return [{ group, check, weight: 'unread', text: read.reason }];
  if (read.state === 'absent') {
    const text = `there is no ${name}: ${kind.missing}`;
    const weight = kind.missingWeight ?? 'problem';
    const fix = `apply the manifests of this version again, or this one: ${FIX}`;
    return [{ group, check, weight, text, fix, commands: [applyCommand(wanted)] }];
  }
  const found = read.value;
  const told = differences(wanted, found, { strict: kind.strict, whole: WHOLE, exact: EXACT }).map(
    (difference) => ({ difference, ...judge(kind, difference) }),
  );
  const fields = (['labels', 'annotations'] as const)
    .filter((list) => list === 'labels' || certManager)
    .flatMap((list) => metadataOf(list, wanted, found))
    .map((difference) => ({
      difference,
      weight: 'warning' as const,
      why: 'it means something to Kubernetes or cert-manager',
    }));
  const judged = [...told, ...fields].filter(({ weight }) => weight !== 'free');
  if (judged.every(({ weight }) => weight === 'note')) {
    const same: Result = { group, check, weight: 'same', text: name };
    return [same, ...judged.map(({ difference }) => noted(kind, name, difference))];
  }
  // Differences with the same consequence make one finding.
  const by = Map.groupBy(judged, ({ weight, why }) => `${weight}:${why}`);
  return [...by.values()].flatMap((alike): Result[] => {
    const [first] = alike;
    if (first === undefined) return [];
    const list = alike.map(({ difference }) => difference);
    if (first.weight === 'note') return list.map((one) => noted(kind, name, one));
    return [
      {
        ...{ group, check, weight: first.weight, text: `${name}: ${textOf(list)}: ${first.why}` },
        fix: `make it ${list.map(wantedText).join('; ')}, as this version ships it: ${FIX}`,
        commands: commandsFor(wanted, list),
      },
    ];
  });
}

const noted = ({ group, check }: KindOfObject, name: string, difference: Difference): Result => ({
  ...{ group, check, weight: 'note', text: `${name}: ${textOf([difference])}` },
});

/** An object with a changed immutable field is deleted and created again; others are patched. */
function commandsFor(wanted: JsonObject, list: readonly Difference[]): readonly string[] {
  if (
    list.some(({ field }) => /^roleRef|^spec\.selector\.?.*$/.test(field) && kindName(wanted) !== 'Service')
  ) {
    if (kindName(wanted) !== 'PodDisruptionBudget') return [deleteCommand(wanted), applyCommand(wanted)];
  }
  const operations = list.flatMap(({ patch }): readonly PatchOperation[] => patch);
  return [patchCommand(wanted, operations)];
}

function metadataOf(
  list: 'labels' | 'annotations',
  wanted: JsonObject,
  found: JsonObject,
): readonly Difference[] {
  const there = new Map(meantIn(found, list));
  const none = ownObject(found['metadata'], list) === undefined;
  return meantIn(wanted, list)
    .filter(([key, value]) => there.get(key) !== value)
    .map(([key, value], index) => ({
      field: `metadata.${list}[${key}]`,
      wanted: value,
      found: there.get(key),
      patch: [
        ...(none && index === 0 ? [{ op: 'add' as const, path: `/metadata/${list}`, value: {} }] : []),
        { op: 'add', path: `/metadata/${list}/${key.replaceAll('/', '~1')}`, value },
      ],
    }));
}

const short = (value: Json): string => {
  const text = typeof value === 'string' ? value.trim().replace(/\s+/g, ' ') : JSON.stringify(value);
  return printable(text, 120);
};

const textOf = (list: readonly Difference[]): string =>
  list
    .map(({ field, wanted, found }) => {
      if (wanted === undefined) return `${field} is not shipped, here it is ${short(found ?? null)}`;
      return found === undefined
        ? `${field} is not there`
        : `${field} is ${short(found)}, not ${short(wanted)}`;
    })
    .join('; ');

const wantedText = ({ field, wanted }: Difference): string =>
  wanted === undefined ? `without ${field}` : `${field} ${short(wanted)}`;

const SEVERITY: Readonly<Partial<Record<Result['weight'], CheckResult>>> = {
  problem: 'problem',
  warning: 'warning',
  unread: 'not-checked',
};

/** One finding for each problem or warning, one for each reason why objects are unreadable, one `ok` for each check. */
function merged(results: readonly Result[]): readonly Diagnosis[] {
  return [...Map.groupBy(results, ({ group, check }) => `${group}/${check}`).values()].flatMap((list) => {
    const [first] = list;
    if (first === undefined) return [];
    const { group, check } = first;
    const wrong = list.flatMap((one): readonly Diagnosis[] => {
      const severity = SEVERITY[one.weight];
      if (severity === undefined) return [];
      const { fix = RIGHTS_FIX, commands } = one;
      return [
        { group, check, severity, found: one.text, fix, ...(commands === undefined ? {} : { commands }) },
      ];
    });
    const unread = [...new Map(wrong.map((one) => [one.found, one])).values()];
    const same = list.filter(({ weight }) => weight === 'same').map(({ text }) => text);
    if (wrong.length > 0 || same.length === 0) return unread;
    const what = same.length === 1 ? `${same[0]} is` : `${same.length} objects are`;
    return [saying(group, check).ok(`${what} as this version ships ${same.length === 1 ? 'it' : 'them'}`)];
  });
}

const notes = (results: readonly Result[]): readonly Diagnosis[] => {
  const told = results.filter(({ weight }) => weight === 'note').map(({ text }) => text);
  return told.length === 0
    ? []
    : [saying('program', 'settings').ok(`differs where it may: ${told.join('; ')}`)];
};
