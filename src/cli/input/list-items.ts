import { isObject, own, ownList, ownString, type JsonObject } from '../../api/json.ts';

/** The items of a `v1 List` and of lists of one kind (`PodList`), lists in lists as well; else the object itself. */
export function itemsOf(root: JsonObject): { object: JsonObject; path: string }[] {
  const found: { object: JsonObject; path: string }[] = [];
  const waiting = [{ object: root, path: '' }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { object, path } = next;
    const kind = ownString(object, 'kind');
    const items = kind?.endsWith('List') === true ? ownList(object, 'items') : undefined;
    if (kind === undefined || items === undefined) {
      found.push(next);
      continue;
    }
    // An API server leaves kind and apiVersion out of the items of a typed list.
    const given: JsonObject =
      kind === 'List'
        ? {}
        : { apiVersion: own(object, 'apiVersion') ?? '', kind: kind.slice(0, -'List'.length) };
    const inner = items.flatMap((item, index) =>
      isObject(item)
        ? [
            {
              object: ownString(item, 'kind') === undefined ? { ...given, ...item } : item,
              path: `${path === '' ? '' : `${path}.`}items[${index}]`,
            },
          ]
        : [],
    );
    waiting.push(...inner.reverse());
  }
  return found;
}
