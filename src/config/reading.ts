import type { TextContext } from './field.js';
import type { ProblemList } from './problem-list.js';
import type { YamlSource } from './yaml-source.js';

/** What reading needs beside the schema and the node. */
export interface Reading {
  readonly source: YamlSource;
  readonly problems: ProblemList;
  readonly context: TextContext;
}
