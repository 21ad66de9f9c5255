import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { shortened } from './problem.js';

/** A place in the file; both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** What stands at a place of the file, as it is written: numbers keep their text, so that nothing is guessed at. */
export type Written =
  | { readonly kind: 'text' | 'number' | 'boolean'; readonly text: string }
  | { readonly kind: 'nothing' | 'null' | 'dangling' }
  | { readonly kind: 'list'; readonly list: YAMLSeq }
  | { readonly kind: 'mapping'; readonly mapping: YAMLMap };

/** One entry of a mapping, with its name as it is written. */
export interface Entry {
  readonly name: string;
  readonly key: unknown;
  readonly value: unknown;
}

/** A YAML text, parsed but not interpreted. */
export class YamlSource {
  readonly root: unknown;
  /** Where the text is not YAML. */
  readonly faults: readonly (Position & { readonly message: string })[];
  readonly #document: ReturnType<typeof parseDocument>;
  readonly #lines = new LineCounter();

  constructor(text: string) {
    // Doubled keys are the reader's to find: it knows that 1 and "1" are one name, and the path.
    const options = { lineCounter: this.#lines, prettyErrors: false, uniqueKeys: false };
    this.#document = parseDocument(text, options);
    this.root = this.#document.contents;
    this.faults = [...this.#document.errors, ...this.#document.warnings].map((error) => ({
      message: `not valid YAML: ${error.message.split(';')[0]}`,
      ...this.#position(error.pos[0]),
    }));
  }

  /** What stands at `node`, seen through an alias. */
  written(node: unknown): Written {
    if (isAlias(node)) {
      const target = node.resolve(this.#document);
      return target === undefined ? { kind: 'dangling' } : this.written(target);
    }
    if (isMap(node)) return { kind: 'mapping', mapping: node };
    if (isSeq(node)) return { kind: 'list', list: node };
    return isScalar(node) ? scalar(node.value, node.source) : { kind: 'nothing' };
  }

  /** The entries of a mapping; a key that is not a scalar has no name. */
  entries(mapping: YAMLMap): readonly (Entry | { readonly name: undefined; readonly key: unknown })[] {
    return mapping.items.map(({ key, value }) => {
      const written = this.written(key);
      if (written.kind === 'nothing' || written.kind === 'null')
        return { name: isScalar(key) ? (key.source ?? '') : '', key, value };
      return 'text' in written ? { name: written.text, key, value } : { name: undefined, key };
    });
  }

  /** Where a node begins; `undefined` for one that is not written at all. */
  position(node: unknown): Position | undefined {
    return isNode(node) && node.range ? this.#position(node.range[0]) : undefined;
  }

  #position(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { line, column: col };
  }
}

/** Completes "got …". A secret is not repeated. */
export function describeWritten(written: Written, secret = false): string {
  switch (written.kind) {
    case 'text':
      return secret ? 'text' : JSON.stringify(shortened(written.text));
    case 'number':
      return secret ? 'a number' : shortened(written.text);
    case 'boolean':
      return written.text;
    case 'list':
    case 'mapping':
      return `a ${written.kind}`;
    case 'dangling':
      return 'an alias of nothing';
    case 'nothing':
    case 'null':
      return written.kind;
  }
}

function scalar(value: unknown, source: string | undefined): Written {
  if (typeof value === 'string') return { kind: 'text', text: value };
  const text = source ?? String(value);
  if (value === null) return { kind: text === '' ? 'nothing' : 'null' };
  return { kind: typeof value === 'boolean' ? 'boolean' : 'number', text };
}

function isNode(node: unknown): node is Node {
  return isScalar(node) || isMap(node) || isSeq(node) || isAlias(node);
}
