import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Copy, DockerfileParser, type Instruction } from 'dockerfile-ast';

/** The project's folder, which is what an image is built from. */
export const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));
export const DOCKERFILE = await readFile(`${PROJECT}/Dockerfile`, 'utf8');

/** One instruction, as far as the project's Dockerfile uses them. */
export type Step =
  | { readonly kind: 'workdir'; readonly path: string }
  | { readonly kind: 'copy'; readonly from: string | undefined; readonly sources: string[]; readonly target: string }
  | { readonly kind: 'run'; readonly command: string }
  | { readonly kind: 'env'; readonly variables: Readonly<Record<string, string>> }
  | { readonly kind: 'user'; readonly name: string }
  | { readonly kind: 'healthcheck' | 'entrypoint' | 'cmd'; readonly command: string[] };

export interface Stage {
  readonly name: string | undefined;
  readonly image: string;
  readonly steps: readonly Step[];
}

/**
 * The stages of a Dockerfile in their order.
 *
 * @throws Error at an instruction that {@link Step} does not know, so that none is passed over.
 */
export function stagesOf(text: string): Stage[] {
  const stages: (Stage & { steps: Step[] })[] = [];
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const words = wordsOf(instruction);
    if (instruction.getKeyword() === 'FROM') {
      const [image = '', , name] = words;
      stages.push({ name, image, steps: [] });
    } else if (instruction.getKeyword() !== 'EXPOSE') {
      stages.at(-1)?.steps.push(stepOf(instruction, words));
    }
  }
  return stages;
}

function stepOf(instruction: Instruction, words: string[]): Step {
  const [first = ''] = words;
  switch (instruction.getKeyword()) {
    case 'WORKDIR':
      return { kind: 'workdir', path: first };
    case 'COPY':
      return { kind: 'copy', from: stageNamed(instruction), sources: words.slice(0, -1), target: words.at(-1) ?? '' };
    case 'RUN':
      return { kind: 'run', command: words.join(' ') };
    case 'ENV':
      return { kind: 'env', variables: Object.fromEntries(words.map((word) => halves(word))) };
    case 'USER':
      return { kind: 'user', name: first };
    case 'HEALTHCHECK':
      return { kind: 'healthcheck', command: listOf(words.slice(1)) };
    case 'ENTRYPOINT':
      return { kind: 'entrypoint', command: listOf(words) };
    case 'CMD':
      return { kind: 'cmd', command: listOf(words) };
    default:
      throw new Error(`nobody knows ${instruction.toString()} here`);
  }
}

function wordsOf(instruction: Instruction): string[] {
  return instruction.getArguments().map((argument) => argument.getValue());
}

function stageNamed(instruction: Instruction): string | undefined {
  return instruction instanceof Copy ? (instruction.getFromFlag()?.getValue() ?? undefined) : undefined;
}

function halves(word: string): [string, string] {
  const at = word.indexOf('=');
  return [word.slice(0, at), word.slice(at + 1)];
}

/** A command in its JSON form; the other one runs a shell, which takes no signals. */
function listOf(words: string[]): string[] {
  const list: unknown = JSON.parse(words.join(' '));
  if (!Array.isArray(list)) throw new Error(`not a JSON list: ${words.join(' ')}`);
  return list.map(String);
}
