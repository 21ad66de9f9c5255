import { Argument, type Command } from 'commander';
import { openRemote, type RemoteFlags, remote, table } from '../remote.js';

interface KeyFields {
  readonly id: string;
  readonly prefix: string;
  readonly createdAt: string | null;
}

/** `headgate tenants keys …`: keys of a tenant, made and revoked while everything runs. */
export function tenantKeyCommands(tenants: Command): void {
  const keys = tenants.command('keys').description('make, list and revoke keys of a tenant (admin key)');
  const admin = (name: string): Command =>
    remote(keys.command(name), { tenant: false }).addArgument(new Argument('<id>', 'id of the tenant'));

  admin('list')
    .description('list the keys of a tenant, without what is secret')
    .action(async (id: string, flags: RemoteFlags) => {
      const { client, print } = openRemote(flags);
      const list = await client.request<{ keys: (KeyFields & { lastUsedAt: string | null })[] }>({
        method: 'GET',
        path: pathOf(id),
      });
      const rows = list.keys.map((key) => [key.id, key.prefix, key.createdAt, key.lastUsedAt]);
      print(list, () => table([['id', 'begins with', 'created', 'last used'], ...rows]));
    });

  admin('create')
    .description('make a key; it is shown this once')
    .action(async (id: string, flags: RemoteFlags) => {
      const { client, print } = openRemote(flags);
      const made = await client.request<KeyFields & { key: string }>({ method: 'POST', path: pathOf(id) });
      print(made, () => [made.key]);
    });

  admin('revoke')
    .description('revoke a key')
    .argument('<key-id>', 'id of the key, as `list` shows it')
    .action(async (id: string, keyId: string, flags: RemoteFlags) => {
      const { client, print } = openRemote(flags);
      const path = `${pathOf(id)}/${encodeURIComponent(keyId)}`;
      print(await client.request({ method: 'DELETE', path }), () => [`${keyId}  revoked`]);
    });
}

function pathOf(id: string): string {
  return `/v1/tenants/${encodeURIComponent(id)}/keys`;
}
