import { join } from 'node:path';

/**
 * Settings for apt, read after the machine's own (`-c`): its sources and proxies hold, but everything apt writes goes
 * into `folder`, so that it needs no root and leaves the system alone.
 */
export function aptSettings(folder: string): string {
  return `
// Hooks of the system belong to the system's own folders.
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
Dir::State "${join(folder, 'state')}";
Dir::State::lists "${join(folder, 'state/lists')}";
Dir::State::status "/var/lib/dpkg/status";
Dir::Cache "${join(folder, 'cache')}";
Dir::Cache::archives "${join(folder, 'cache/archives')}";
Debug::NoLocking "1";
// As root apt would drop to a user who cannot write here.
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::CNF::DefaultEnabled "false";
Acquire::Retries "1";
Acquire::http::Timeout "10";
Acquire::https::Timeout "10";
`.trimStart();
}

/** The folders that must exist before apt runs with these settings. */
export function aptFolders(folder: string): string[] {
  return ['state/lists/partial', 'cache/archives/partial'].map((path) => join(folder, path));
}
