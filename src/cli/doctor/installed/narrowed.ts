import { isDeepStrictEqual } from 'node:util';
import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../../json/json.ts';

/** `controllers.podGang` of the configuration: LabelSelectors. */
export type Selectors = Readonly<Record<'namespaceSelector' | 'objectSelector', object>>;

/**
 * A webhook configuration with the selectors that are found, where these ask for what is shipped and for what the
 * configuration asks for beside it (docs/loop.md), and for nothing else.
 */
export const narrowed = (
  wanted: JsonObject,
  found: JsonObject | undefined,
  selectors: Selectors,
): JsonObject => {
  const webhooks = (ownList(wanted, 'webhooks') ?? []).map((webhook) => {
    const live = (ownList(found ?? null, 'webhooks') ?? []).find(
      (one) => ownString(one, 'name') === ownString(webhook, 'name'),
    );
    let narrow = webhook as JsonObject;
    for (const key of ['namespaceSelector', 'objectSelector'] as const) {
      const given = ownObject(live, key);
      const both = [...conditions(own(webhook, key)), ...conditions(selectors[key] as Json)];
      if (given !== undefined && isDeepStrictEqual(new Set(conditions(given)), new Set(both))) {
        narrow = { ...narrow, [key]: given };
      }
    }
    return narrow;
  });
  return { ...wanted, webhooks };
};

/** Each as a text of its own: all of them have to hold, in no order. */
function conditions(selector: Json | undefined): readonly string[] {
  const labels = Object.entries(ownObject({ selector: selector ?? null }, 'selector') ?? {}).flatMap(
    ([key, value]) =>
      key === 'matchLabels' ? Object.entries(value as JsonObject).map((one) => JSON.stringify(one)) : [],
  );
  const expressions = (ownList(selector ?? null, 'matchExpressions') ?? []).map((one) => {
    const values = [...(ownList(one, 'values') ?? [])].sort();
    return JSON.stringify([ownString(one, 'key'), ownString(one, 'operator'), values]);
  });
  return [...labels, ...expressions];
}
