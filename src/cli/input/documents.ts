import { LineCounter, parseAllDocuments, type Document } from 'yaml';
import { isObject, own, ownList, ownString, type Json, type JsonObject } from '../../api/json.ts';
import { quoted } from '../../api/printable.ts';
import { messageOf, MusterError } from '../../errors.ts';
import type { InputText } from './input-files.ts';
import { offsetOf, stepsOf } from './field-position.ts';
import { READ_AS_KUBERNETES } from './yaml-dialect.ts';

/** 1-based, as editors count. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One object of an input, and where its fields stand. */
export interface SourceObject {
  readonly file: string;
  readonly object: JsonObject;
  /**
   * Where `field` (`spec.podgroups[0].name`) stands; where it is missing, the nearest that contains it; for '' the
   * object itself.
   */
  locate(field: string): Position;
  /** The document by itself, on the lines that it has in the file; undefined for an item of a list. */
  readonly text: string | undefined;
}

/**
 * The objects of all inputs. None at all is an error: a pipeline whose templates came out empty must not pass.
 * @throws MusterError INPUT_UNREADABLE
 */
export function readAll(inputs: readonly InputText[]): SourceObject[] {
  const objects = inputs.flatMap(readObjects);
  if (objects.length > 0) return objects;
  throw new MusterError(
    'INPUT_UNREADABLE',
    `there is no object in ${inputs.map(({ name }) => name).join(', ')}`,
    'give manifests with at least one object after -f',
  );
}

/** Aliases that may be followed before a document counts as one that was made to blow up. */
const MAX_ALIASES = 100;

/**
 * The objects of one input: every document of it, and the items of lists. Empty documents are left out.
 * @throws MusterError INPUT_UNREADABLE with file, line and column
 */
export function readObjects({ name, text }: InputText): SourceObject[] {
  const lines = new LineCounter();
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const fail = (offset: number, why: string, cause?: unknown): MusterError =>
    unreadable(name, at(offset), why, cause);

  let documents: Document.Parsed[];
  try {
    documents = [
      ...parseAllDocuments(text, { ...READ_AS_KUBERNETES, lineCounter: lines }),
    ] as Document.Parsed[];
  } catch (thrown) {
    // What the parser throws rather than reports: nesting beyond its stack.
    throw fail(0, whyOf(thrown), thrown);
  }
  return documents.flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw fail(error.pos[0], whyOf(error));
    const start = document.contents?.range[0] ?? document.range[0];
    let value: Json;
    try {
      // Through JSON, so that two places never share one object and nothing but JSON is left.
      value = JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: MAX_ALIASES }))) as Json;
    } catch (thrown) {
      throw fail(start, whyOf(thrown), thrown);
    }
    if (value === null) return [];
    if (!isObject(value)) throw fail(start, `a Kubernetes object is needed, found ${quoted(value)}`);

    const first = document.range[0];
    const locate = (field: string): Position => at(offsetOf(document, stepsOf(field)));
    const whole = '\n'.repeat(at(first).line - 1) + text.slice(first, document.range[2]);
    return itemsOf(value).map(({ object, path }) => ({
      file: name,
      object,
      locate: (field: string) => locate(path === '' || field === '' ? path || field : `${path}.${field}`),
      text: path === '' ? whole : undefined,
    }));
  });
}

const whyOf = (thrown: unknown): string => {
  const message = messageOf(thrown);
  // By their text: the parser also reports the first of these as if it were a fault of syntax.
  if (message.includes('Maximum call stack size exceeded')) return 'it is nested too deeply';
  if (message.startsWith('Excessive alias count'))
    return 'its aliases unfold to more than any manifest needs';
  return message;
};

/** The items of a `v1 List` and of lists of one kind (`PodList`), lists in lists as well; else the object itself. */
function itemsOf(root: JsonObject): { object: JsonObject; path: string }[] {
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

const unreadable = (file: string, { line, column }: Position, why: string, cause?: unknown): MusterError =>
  new MusterError(
    'INPUT_UNREADABLE',
    `${file}:${line}:${column}: ${why}`,
    'correct the YAML or JSON at this place; "-f -" reads standard input',
    { cause },
  );
