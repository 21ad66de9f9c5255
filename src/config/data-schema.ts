import { readFile } from 'node:fs/promises';
import { Compile, Errors, Meta } from 'typebox/schema';
import { type Fault, readFault } from './read-fault.js';

const DEFAULT_DRAFT = 'https://json-schema.org/draft/2020-12/schema';

/** Reads a JSON Schema file and checks it against its draft: what `$schema` names, else 2020-12. */
export async function readDataSchema(file: string): Promise<{ readonly schema: object } | Fault> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    return readFault(file, error);
  }
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    return { fault: `${file} is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    return { fault: `${file}: expected a JSON object` };
  }
  const fault = schemaFault(schema);
  return fault === undefined ? { schema } : { fault: `${file}: ${fault}` };
}

function schemaFault(schema: object): string | undefined {
  const named = '$schema' in schema ? schema.$schema : DEFAULT_DRAFT;
  const draft = Object.entries(Meta).find(([uri]) => typeof named === 'string' && bare(uri) === bare(named))?.[1];
  if (draft === undefined) return `$schema: expected one of ${Object.keys(Meta).map(bare).join(', ')}`;
  try {
    // Compiling a whole draft for one look at one schema takes thirty times as long as interpreting it.
    const [ok, [error]] = Errors(draft, schema);
    if (!ok) return `not a JSON Schema: ${error?.instancePath || 'it'} ${error?.message}`;
    Compile(schema);
  } catch (error) {
    return `not a usable JSON Schema: ${error instanceof Error ? error.message : String(error)}`;
  }
  return undefined;
}

/** Drafts are named with and without an empty fragment, and by http and https. */
function bare(uri: string): string {
  return uri.replace(/#$/, '').replace(/^https?:/, 'https:');
}
