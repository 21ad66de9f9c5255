import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { parse } from 'yaml';
import { PROJECT } from './dockerfile.js';

export const COMPOSE_TEXT = await readFile(join(PROJECT, 'docker-compose.yml'), 'utf8');

/** As much of a compose file as the project's has and the tests look at. */
const Service = Type.Object({
  image: Type.String(),
  command: Type.Optional(Type.Array(Type.String())),
  environment: Type.Optional(Type.Record(Type.String(), Type.String())),
  volumes: Type.Optional(Type.Array(Type.String())),
  networks: Type.Optional(Type.Array(Type.String())),
  ports: Type.Optional(Type.Array(Type.String())),
  user: Type.Optional(Type.String()),
  read_only: Type.Optional(Type.Boolean()),
  tmpfs: Type.Optional(Type.Array(Type.String())),
  stop_grace_period: Type.Optional(Type.String()),
  deploy: Type.Optional(Type.Object({ replicas: Type.Number() })),
});
export type ComposeService = Static<typeof Service>;
const Compose = Type.Object({
  services: Type.Record(Type.String(), Service),
  networks: Type.Record(Type.String(), Type.Union([Type.Null(), Type.Object({ internal: Type.Boolean() })])),
  volumes: Type.Record(Type.String(), Type.Null()),
});

/**
 * The compose file with these variables filled in, as `docker compose` reads it.
 *
 * @throws Error that names a variable that has to be set and is not.
 */
export function readCompose(variables: Readonly<Record<string, string>>): Static<typeof Compose> {
  const text = COMPOSE_TEXT.replaceAll(/\$\{(\w+)(:[-?])?([^}]*)\}/g, (_, name: string, kind: string, rest: string) => {
    const value = variables[name] || (kind === ':-' ? rest : undefined);
    if (value === undefined) throw new Error(`${name}: ${rest}`);
    return value;
  });
  return Value.Parse(Compose, parse(text, { merge: true }));
}

/** A file of the project that a container sees elsewhere. */
export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

/** The files that a service has mounted, without its volumes. */
export function mountsOf({ volumes = [] }: ComposeService): Mount[] {
  return volumes
    .filter((volume) => volume.startsWith('./'))
    .map((volume) => {
      const [source = '', target = '', mode] = volume.split(':');
      return { source: join(PROJECT, source), target, readOnly: mode === 'ro' };
    });
}
