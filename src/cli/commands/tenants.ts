import { Argument, type Command } from 'commander';
import type { HeadgateClient } from '../../client/index.js';
import { openRemote, type RemoteFlags, remote, table, wholeNumber } from '../remote.js';
import { UsageError } from '../usage-error.js';
import { tenantKeyCommands } from './tenant-keys.js';

interface Origin {
  readonly value: string | number;
  readonly from: string;
}

interface Tenant {
  readonly tenant: string;
  readonly tier: Origin;
  readonly types: Readonly<Record<string, { paused: readonly string[]; profile: Readonly<Record<string, Origin>> }>>;
  readonly warnings: readonly string[];
  readonly webhook: { readonly url: string | null; readonly events: readonly string[] };
  readonly webhookSecret?: string;
  readonly inFile: boolean;
  readonly overrides: Readonly<Record<string, unknown>>;
}

interface TypeFlags extends RemoteFlags {
  readonly type?: string;
}

/** `headgate tenants …`: what holds for tenants of a running Headgate. All of it takes an admin's key. */
export function tenantCommands(program: Command): void {
  const tenants = program
    .command('tenants')
    .description('show and change what holds for tenants of a running Headgate (admin key)');
  tenantKeyCommands(tenants);
  const admin = (name: string): Command => remote(tenants.command(name), { tenant: false });
  const idArgument = new Argument('<id>', 'id of the tenant');

  admin('list')
    .description('list the tenants that somebody named')
    .option('--limit <n>', 'tenants in the page, 50 unless given', wholeNumber)
    .option('--cursor <cursor>', 'the cursor of the page before')
    .action(async ({ limit, cursor, ...flags }: RemoteFlags & { limit?: number; cursor?: string }) => {
      const { client, print } = openRemote(flags);
      const page = await client.request<{
        tenants: { tenant: string; tier: string; inFile: boolean }[];
        cursor?: string;
      }>({ method: 'GET', path: '/v1/tenants', query: { limit, cursor } });
      print(page, () => [
        ...table([
          ['tenant', 'tier', 'in file'],
          ...page.tenants.map((each) => [each.tenant, each.tier, each.inFile ? 'yes' : 'no']),
        ]),
        ...(page.cursor === undefined ? [] : [`more: --cursor ${page.cursor}`]),
      ]);
    });

  admin('get')
    .description('show what holds for a tenant, and who said so')
    .addArgument(idArgument)
    .action(async (id: string, flags: RemoteFlags) => {
      const { client, print } = openRemote(flags);
      const tenant = await client.request<Tenant>({ method: 'GET', path: pathOf(id) });
      print(tenant, () => tenantLines(tenant));
    });

  admin('set')
    .description('change what holds for a tenant, at once for what already waits')
    .addArgument(idArgument)
    .argument('[fields...]', 'as in tier=pro rate=2/s ocr.depth=500 burst=null; null goes back to the file')
    .option('--replace', 'clear everything that is not named')
    .action(async (id: string, fields: string[], { replace, ...flags }: RemoteFlags & { replace?: true }) => {
      if (fields.length === 0 && replace !== true) throw new UsageError('state a field, as in rate=2/s, or --replace');
      const { client, print } = openRemote(flags);
      const body = overridesOf(fields);
      const tenant = await client.request<Tenant>({
        method: replace === true ? 'PUT' : 'PATCH',
        path: pathOf(id),
        body,
      });
      print(tenant, () => tenantLines(tenant));
    });

  admin('add')
    .description('make a tenant known, with a key of its own; the key is printed this once')
    .addArgument(idArgument)
    .argument('[fields...]', 'as in tier=pro rate=2/s ocr.depth=500')
    .action(async (id: string, fields: string[], flags: RemoteFlags) => {
      const { client, print } = openRemote(flags);
      const body = overridesOf(fields);
      if (await isNamed(client, id)) throw new Error(`${id} is there already: use tenants set, or tenants keys create`);
      if (fields.length > 0) await client.request<Tenant>({ method: 'PATCH', path: pathOf(id), body });
      const made = await client.request<{ key: string }>({ method: 'POST', path: `${pathOf(id)}/keys` });
      print(made, () => [made.key]);
    });

  for (const verb of ['pause', 'resume'] as const) {
    admin(verb)
      .description(verb === 'pause' ? 'start nothing more of a tenant' : 'take a pause back')
      .addArgument(idArgument)
      .option('--type <type>', 'in this type alone')
      .action(async (id: string, { type, ...flags }: TypeFlags) => {
        const { client, print } = openRemote(flags);
        const path = `${pathOf(id)}/${verb}`;
        const answer = await client.request<Pick<Tenant, 'types'>>({ method: 'POST', path, query: { type } });
        print(answer, () => table(Object.entries(answer.types).map(([name, each]) => [name, pausedText(each.paused)])));
      });
  }

  admin('purge')
    .description('cancel all that waits of a tenant')
    .addArgument(idArgument)
    .option('--type <type>', 'in this type alone')
    .action(async (id: string, { type, ...flags }: TypeFlags) => {
      const { client, print } = openRemote(flags);
      const path = `${pathOf(id)}/purge`;
      let [cancelled, more] = [0, true];
      while (more) {
        const answer = await client.request<{ cancelled: number; more: boolean }>({
          method: 'POST',
          path,
          query: { type },
        });
        cancelled += answer.cancelled;
        more = answer.more;
      }
      print({ tenant: id, cancelled }, () => [`${cancelled} jobs cancelled`]);
    });
}

/** Whether anybody has named a tenant: the file, an override or a key. */
async function isNamed(client: HeadgateClient, id: string): Promise<boolean> {
  const { inFile, overrides } = await client.request<Tenant>({ method: 'GET', path: pathOf(id) });
  const { keys } = await client.request<{ keys: unknown[] }>({ method: 'GET', path: `${pathOf(id)}/keys` });
  return inFile || Object.keys(overrides).length > 0 || keys.length > 0;
}

/** `tier=pro ocr.rate=2/s` as the body that states it. */
export function overridesOf(fields: readonly string[]): Record<string, unknown> {
  const own: Record<string, unknown> = {};
  const webhook: Record<string, unknown> = {};
  const types: Record<string, Record<string, unknown>> = {};
  for (const text of fields) {
    const [, type, name, value] = /^(?:([a-z][a-z0-9_-]*)\.)?([A-Za-z]+)=(.+)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined) {
      throw new UsageError(`expected field=value or type.field=value, as in ocr.rate=2/s; got "${text}"`);
    }
    // No field of a type has one of these names.
    if (type === 'webhook' && WEBHOOK_FIELDS.includes(name)) webhook[name] = webhookValue(name, value);
    else if (type === undefined) own[name] = fieldValue(value);
    else types[type] = { ...types[type], [name]: fieldValue(value) };
  }
  return {
    ...own,
    ...(Object.keys(webhook).length > 0 && { webhook }),
    ...(Object.keys(types).length > 0 && { types }),
  };
}

const WEBHOOK_FIELDS = ['url', 'events', 'secret'];

function webhookValue(name: string, text: string): string | string[] | null {
  if (text === 'null') return null;
  return name === 'events' ? text.split(',') : text;
}

function fieldValue(text: string): string | number | null {
  if (text === 'null') return null;
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function tenantLines({ tenant, tier, types, warnings, webhook, webhookSecret }: Tenant): string[] {
  const rows = Object.entries(types).flatMap(([type, { paused, profile }]) => [
    [type, 'paused', pausedText(paused), ''],
    ...Object.entries(profile).map(([field, { value, from }]) => [type, field, value, from]),
  ]);
  return [
    `${tenant}: tier ${tier.value} (${tier.from})`,
    ...table([['type', 'field', 'value', 'from'], ...rows]),
    ...(webhook.url === null ? [] : [`webhook: ${webhook.url} (${webhook.events.join(', ')})`]),
    ...(webhookSecret === undefined ? [] : [`webhook secret, shown this once: ${webhookSecret}`]),
    ...warnings.map((warning) => `warning: ${warning}`),
  ];
}

function pausedText(paused: readonly string[]): string {
  return paused.length === 0 ? 'no' : `yes (${paused.join(', ')})`;
}

function pathOf(id: string): string {
  return `/v1/tenants/${encodeURIComponent(id)}`;
}
