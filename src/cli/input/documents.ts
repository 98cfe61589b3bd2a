import { isObject, type Json } from '../../json/json.ts';
import { yamlTrouble } from '../../text/printable.ts';
import {
  linesIn,
  sourceOf,
  treesOf,
  wholeOf,
  type TextPart,
  type SourceObject,
  type TextPosition,
  type TextRange,
  type Tree,
} from './source-object.ts';
import { offsetOf, stepsOf } from './yaml-dialect.ts';
import type { InputFault } from './input-fault.ts';
import { jsonDocumentIn, type JsonDocument } from './json-document.ts';
import { itemsOf, needed } from './list-items.ts';
import { plainYamlIn, type PlainDocument } from './plain-yaml.ts';

/** The text of one input, with its name in messages. */
export interface InputText {
  readonly name: string;
  readonly text: string;
}

/** Signs that the value may hold one object twice, or a number that JSON lacks. */
const ALIAS_OR_NO_JSON = /\*|\.(?:inf|nan)/i;

/** Aliases that are followed in one document: more are taken for an attack by expansion. */
const MAX_ALIASES = 100;

/**
 * Yields the objects of one input: of every document, and of the items of lists. Empty documents are left out. Only one
 * document at a time is kept as a tree, so an input may be large.
 * @param bad called for each unreadable document; later documents are read nevertheless
 * @param wants whether to read a document with this text
 */
export function* readObjects(
  { name, text }: InputText,
  bad: (fault: InputFault) => void,
  wants: (text: string) => boolean = () => true,
): Generator<SourceObject> {
  for (const part of partsOf(text)) if (wants(part.text)) yield* objectsIn(name, part, bad);
}

/**
 * Splits a file at its documents. A line that begins with `---` starts a document even within a quoted or literal text (YAML
 * 1.2, 9.1.2). A file with directives or `...` is left to `yaml` as a whole.
 */
function* partsOf(text: string): Generator<TextPart> {
  let start = 0;
  let before = 0;
  if (!/^(?:%|\.\.\.)/m.test(text)) {
    for (const { index } of text.matchAll(/^---(?=\s)/gm)) {
      if (index === 0) continue;
      const part = text.slice(start, index);
      yield { text: part, before };
      start = index;
      before += linesIn(part);
    }
  }
  yield { text: text.slice(start), before };
}

function* objectsIn(file: string, part: TextPart, bad: (fault: InputFault) => void): Generator<SourceObject> {
  const json = jsonDocumentIn(part.text);
  if (json !== undefined) {
    yield* objectsInJson(file, part, json, bad);
    return;
  }
  const tell = (position: TextPosition, message: string): void =>
    bad({ file, ...position, message, fix: fixFor(part.text) });
  const plain = plainYamlIn(part.text);
  if (plain !== undefined) {
    yield* objectsInPlain(file, part, plain, tell);
    return;
  }
  let trees: readonly Tree[];
  try {
    trees = treesOf(part);
  } catch (thrown) {
    // The parser throws for nesting beyond its stack, instead of reporting an error.
    return tell({ line: part.before + 1, column: 1 }, yamlTrouble(thrown as Error));
  }
  for (const [index, { document, at }] of trees.entries()) {
    const [error] = document.errors;
    // Later faults of the same part may follow from this one.
    if (error !== undefined) return tell(at(error.pos[0]), yamlTrouble(error));
    const start = document.contents?.range[0] ?? document.range[0];
    let value: Json;
    try {
      value = document.toJS({ maxAliasCount: MAX_ALIASES }) as Json;
      // A round trip through JSON: no two fields share an object, and nothing but JSON is left.
      if (ALIAS_OR_NO_JSON.test(part.text)) value = JSON.parse(JSON.stringify(value)) as Json;
    } catch (thrown) {
      tell(at(start), yamlTrouble(thrown as Error));
      continue;
    }
    if (value === null) continue;
    if (!isObject(value)) {
      tell(at(start), needed(value));
      continue;
    }
    const strange = (path: string, item: Json): void =>
      tell(at(offsetOf(document, stepsOf(path))), needed(item, path));
    for (const { object, path } of itemsOf(value, strange)) {
      const origin = path === '' ? at(start) : undefined;
      yield sourceOf({ file, part, index, range: wholeOf, origin, object, path });
    }
  }
}

function* objectsInPlain(
  file: string,
  part: TextPart,
  { object: root, start }: PlainDocument,
  tell: (position: TextPosition, message: string) => void,
): Generator<SourceObject> {
  const position = (): TextPosition => ({
    line: part.before + 1 + linesIn(part.text.slice(0, start)),
    column: start - part.text.lastIndexOf('\n', start),
  });
  const strange = (path: string, item: Json): void => {
    const [tree] = treesOf(part);
    tell(tree ? tree.at(offsetOf(tree.document, stepsOf(path))) : position(), needed(item, path));
  };
  for (const { object, path } of itemsOf(root, strange)) {
    const origin = path === '' ? position() : undefined;
    yield sourceOf({ file, part, index: 0, range: wholeOf, origin, object, path });
  }
}

function* objectsInJson(
  file: string,
  part: TextPart,
  json: JsonDocument,
  bad: (fault: InputFault) => void,
): Generator<SourceObject> {
  const position = (offset: number): TextPosition => {
    const { line, column } = json.positionOf(offset);
    return { line: line + part.before, column };
  };
  const strange = (path: string, found: Json): void => {
    const [tree] = treesOf(part);
    const place = tree?.at(offsetOf(tree.document, stepsOf(path))) ?? position(json.start);
    bad({ file, ...place, message: needed(found, path), fix: fixFor(part.text) });
  };
  if (json.spans === undefined) {
    const range = (): TextRange => [0, part.text.length];
    for (const { object, path } of itemsOf(json.object, strange)) {
      const origin = path === '' ? position(json.start) : undefined;
      yield sourceOf({ file, part, index: 0, range, origin, object, path });
    }
    return;
  }
  for (const [index, { start, end }] of json.spans.entries()) {
    // The item is parsed alone, since the list and its tree are much larger.
    const text = part.text.slice(start, end);
    const own = { text, before: 0, at: (offset: number) => position(start + offset) };
    const list = { ...json.object, items: [JSON.parse(text) as Json] };
    const within = (path: string): string => path.replace(/^items\[0\]\.?/, '');
    const odd = (path: string, found: Json): void => strange(`items[${index}].${within(path)}`, found);
    for (const { object, path } of itemsOf(list, odd)) {
      const origin = within(path) === '' ? position(start) : undefined;
      yield sourceOf({ file, part: own, index: 0, range: undefined, origin, object, path: within(path) });
    }
  }
}

export const RENDER_FIRST =
  'it is a template of Helm: render it first, helm template <chart> | muster … -f -';

const fixFor = (text: string): string =>
  text.includes('{{') ? RENDER_FIRST : 'correct the YAML or JSON at this place; "-f -" reads standard input';
