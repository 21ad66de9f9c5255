import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { Service } from 'kubernetes-models/v1/Service';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { parse, parseAllDocuments } from 'yaml';
import { runCommand } from '../../../src/redis/embedded/run-command.js';
import { PROJECT } from './dockerfile.js';

const FOLDER = join(PROJECT, 'docs/deploy/kubernetes');
/** Kinds of objects that the manifests may have, each with its schema and the module that has its type. */
const KINDS = [
  { model: Deployment, module: 'kubernetes-models/apps/v1/Deployment' },
  { model: Service, module: 'kubernetes-models/v1/Service' },
  { model: PodDisruptionBudget, module: 'kubernetes-models/policy/v1/PodDisruptionBudget' },
  { model: HorizontalPodAutoscaler, module: 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler' },
  { model: ScaledObject, module: '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject' },
] as const;

const Meta = Type.Object({ apiVersion: Type.String(), kind: Type.String() });
type Meta = Static<typeof Meta>;
const Kustomization = Type.Object({
  resources: Type.Array(Type.String()),
  configMapGenerator: Type.Array(Type.Object({ name: Type.String(), files: Type.Array(Type.String()) })),
  images: Type.Array(Type.Object({ name: Type.String() })),
});

export const kustomization = Value.Parse(
  Kustomization,
  parse(await readFile(join(FOLDER, 'kustomization.yaml'), 'utf8')),
);

/** Every object of the files that kustomization.yaml names, as it stands there. */
export const objects: readonly Meta[] = (
  await Promise.all(kustomization.resources.map((file) => readFile(join(FOLDER, file), 'utf8')))
).flatMap((text) => parseAllDocuments(text).map((document) => Value.Parse(Meta, document.toJS())));

/** What the schemas of Kubernetes and KEDA say against an object: nothing where all is well. */
export function schemaFault(object: Meta): string | undefined {
  const kind = KINDS.find(({ model }) => model.apiVersion === object.apiVersion && model.kind === object.kind);
  if (kind === undefined) return `${object.apiVersion} ${object.kind} is no kind that is expected`;
  try {
    new kind.model(JSON.parse(JSON.stringify(object))).validate();
    return undefined;
  } catch (error) {
    return String(error);
  }
}

/**
 * What the compiler says of the objects as literals of the types that were made from those schemas. Unlike a schema, it
 * knows every field that there is, and takes no other.
 */
export async function unknownFields(of: readonly Meta[]): Promise<string> {
  const folder = await mkdtemp(join(PROJECT, 'node_modules/.cache-manifests-'));
  try {
    const imports = KINDS.map(({ model, module }) => `import type { I${model.kind} } from '${module}';`);
    const constants = of.map((object, i) => `export const o${i}: I${object.kind} = ${JSON.stringify(object)};`);
    const file = join(folder, 'manifests.mts');
    await writeFile(file, [...imports, ...constants].join('\n'));
    const options = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--ignoreConfig',
      '--pretty',
      'false',
    ];
    const tsc = join(PROJECT, 'node_modules/.bin/tsc');
    const { stdout, stderr } = await runCommand(tsc, [...options, file], { timeoutMs: 100_000 });
    return `${stdout}${stderr}`;
  } finally {
    await rm(folder, { recursive: true });
  }
}

export const deployments = objects.filter((object) => Deployment.is(object));
export const services = objects.filter((object) => Service.is(object));
export const budgets = objects.filter((object) => PodDisruptionBudget.is(object));
export const podScalers = objects.filter((object) => HorizontalPodAutoscaler.is(object));
export const scaledObjects = objects.filter((object) => ScaledObject.is(object));
