import { isCollection, isMap, isScalar, parseDocument, type Document, type Node, type Pair } from 'yaml';

/** A way to a field: names of keys, and indexes of lists. */
export type FieldPath = readonly (string | number)[];

interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  /** What ends at one place is closed from the inside. */
  readonly depth: number;
}

/** One YAML document as text. It is edited by the places of its fields, so comments and layout stay as they were written. */
export class EditedText {
  readonly document: Document;
  readonly #text: string;
  readonly #edits: Edit[] = [];

  constructor(text: string) {
    this.#text = text;
    this.document = parseDocument(text);
    const [fault] = this.document.errors;
    if (fault !== undefined) throw fault;
  }

  has(path: FieldPath): boolean {
    return this.document.hasIn(path);
  }

  /** Replaces the value alone. */
  replaceValue(path: FieldPath, text: string): void {
    const node = this.#node(path);
    this.#edits.push({ from: rangeOf(node)[0], to: this.#end(node), text, depth: path.length });
  }

  /** Replaces key and value, with the lines of `text` at the indentation of the key. */
  replaceField(path: FieldPath, text: string): void {
    const { from, to, indent } = this.#field(path);
    this.#edits.push({ from, to, text: indented(text, indent), depth: path.length });
  }

  /** Puts lines before and after a field, at the indentation of its key. */
  wrapField(path: FieldPath, before: string, after: string): void {
    const { from, to, indent } = this.#field(path);
    const depth = path.length;
    this.#edits.push({ from, to: from, text: `${indented(before, indent)}\n`, depth });
    this.#edits.push({ from: to, to, text: `\n${indented(after, indent)}`, depth });
  }

  /** Puts lines before and after an item of a list, at the indentation of its dash. */
  wrapItem(path: FieldPath, before: string, after: string): void {
    const node = this.#node(path);
    const [start] = rangeOf(node);
    const from = this.#text.lastIndexOf('\n', start) + 1;
    const indent = this.#text.slice(from, start).indexOf('-');
    if (indent < 0) throw new Error(`${path.join('.')} is no item of a list in lines`);
    const to = this.#lineEnd(this.#end(node));
    const depth = path.length;
    this.#edits.push({ from, to: from, text: `${indented(before, indent)}\n`, depth });
    this.#edits.push({ from: to, to, text: `\n${indented(after, indent)}`, depth });
  }

  /** Puts lines behind the last item or field of a list or map, at their indentation. */
  append(path: FieldPath, text: string): void {
    const node = this.#node(path);
    if (!isCollection(node) || node.flow === true)
      throw new Error(`${path.join('.')} is no block collection`);
    const [start] = rangeOf(node);
    const indent = start - (this.#text.lastIndexOf('\n', start) + 1);
    const at = this.#lineEnd(this.#end(node));
    this.#edits.push({ from: at, to: at, text: `\n${indented(text, indent)}`, depth: path.length });
  }

  toString(): string {
    const ordered = this.#edits.map((edit, index) => ({ ...edit, index }));
    ordered.sort((one, other) => one.from - other.from || other.depth - one.depth || one.index - other.index);
    let [text, at] = ['', 0];
    for (const { from, to, text: inserted } of ordered) {
      if (from < at) throw new Error(`two edits of one place: ${inserted}`);
      text += this.#text.slice(at, from) + inserted;
      at = to;
    }
    return text + this.#text.slice(at);
  }

  #node(path: FieldPath): Node {
    const node = path.length === 0 ? this.document.contents : this.document.getIn(path, true);
    if (!isScalar(node) && !isCollection(node)) throw new Error(`there is no ${path.join('.')}`);
    return node;
  }

  #field(path: FieldPath): { readonly from: number; readonly to: number; readonly indent: number } {
    const parent = this.#node(path.slice(0, -1));
    const name = path.at(-1);
    const pair = isMap(parent)
      ? (parent.items as Pair<Node, Node | null>[]).find(({ key }) => isScalar(key) && key.value === name)
      : undefined;
    if (pair === undefined || pair.value === null) throw new Error(`there is no field ${path.join('.')}`);
    const start = rangeOf(pair.key)[0];
    const from = this.#text.lastIndexOf('\n', start) + 1;
    if (this.#text.slice(from, start).trim() !== '') {
      throw new Error(`${path.join('.')} is the first of its list item: it cannot be edited as a whole`);
    }
    return { from, to: this.#lineEnd(this.#end(pair.value)), indent: start - from };
  }

  /** Where the last value inside of a node ends: the range of a block collection covers comments after it, too. */
  #end(node: Node): number {
    if (isCollection(node) && node.flow !== true) {
      const last = node.items.at(-1) as Node | Pair<Node, Node | null>;
      return this.#end('key' in last ? (last.value ?? last.key) : last);
    }
    const [from, to] = rangeOf(node);
    // The range of a block scalar ends behind its line break.
    return from + this.#text.slice(from, to).trimEnd().length;
  }

  #lineEnd(offset: number): number {
    const end = this.#text.indexOf('\n', offset);
    return end < 0 ? this.#text.length : end;
  }
}

/** `@` in `nindent @` stands for the indentation of the lines, `@+2` for two more. */
export const indented = (text: string, indent: number): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? '' : ' '.repeat(indent) + line))
    .join('\n')
    .replaceAll(/nindent @(?:\+(\d+))?/g, (_all, more = '0') => `nindent ${indent + Number(more)}`);

function rangeOf(node: Node): readonly [number, number, number] {
  const { range } = node;
  if (range === undefined || range === null) throw new Error('a node without a place in the text');
  return range;
}
