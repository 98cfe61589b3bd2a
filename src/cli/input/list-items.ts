import { isObject, own, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { quoted } from '../../text/printable.ts';

/**
 * The items of a `v1 List` or of a list of one kind (`PodList`), nested lists included; for any other object the object
 * itself. A `List` without items is empty.
 * @param strange called with each item that is no object
 */
export function itemsOf(
  root: JsonObject,
  strange: (path: string, found: Json) => void,
): { object: JsonObject; path: string }[] {
  const found: { object: JsonObject; path: string }[] = [];
  const waiting = [{ object: root, path: '' }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { object, path } = next;
    const kind = ownString(object, 'kind');
    const under = path === '' ? '' : `${path}.`;
    const given =
      kind?.endsWith('List') === true
        ? (own(object, 'items') ?? (kind === 'List' ? [] : undefined))
        : undefined;
    const items = Array.isArray(given) ? (given as readonly Json[]) : undefined;
    if (kind === 'List' && given !== undefined && items === undefined) {
      strange(`${under}items`, given);
      continue;
    }
    if (kind === undefined || items === undefined) {
      found.push(next);
      continue;
    }
    // An API server leaves kind and apiVersion out of the items of a typed list.
    const lent: JsonObject =
      kind === 'List'
        ? {}
        : { apiVersion: own(object, 'apiVersion') ?? '', kind: kind.slice(0, -'List'.length) };
    const inner = items.flatMap((item, index) => {
      const at = `${under}items[${index}]`;
      if (isObject(item))
        return [{ object: ownString(item, 'kind') === undefined ? { ...lent, ...item } : item, path: at }];
      strange(at, item);
      return [];
    });
    waiting.push(...inner.reverse());
  }
  return found;
}

/** Message about a value that should be an object. @param path of the value in a list; '' for a document */
export const needed = (found: Json, path = ''): string =>
  `${path === '' ? '' : `${path}: `}${path.endsWith('items') ? 'a list' : 'a Kubernetes object'} is needed, found ${quoted(found)}`;
