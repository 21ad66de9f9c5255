import type { Command } from 'commander';
import { ConfigError } from '../../config/config.js';
import { environment } from '../../config/environment.js';
import type { WorkerOrder } from '../../config/worker-order.js';
import { openRemote, type RemoteFlags, remote, writeOut } from '../remote.js';

interface FileFlags {
  readonly config?: string;
  readonly data?: string;
  readonly json?: true;
}

/** `headgate config check` and `headgate doctor`: what is wrong, before it hurts. */
export function checkCommands(
  local: (parent: Command, name: string, description: string) => Command,
  program: Command,
  loadOf: (flags: FileFlags) => WorkerOrder['load'],
  setCode: (code: number) => void,
): void {
  const config = program.command('config').description('look at the configuration');
  local(
    config,
    'check',
    'read and check the configuration; the exit code is 2 when it cannot be used, as that of `start` is',
  )
    .option('--json', 'print one JSON line')
    .action(async (flags: FileFlags) => setCode(await checkConfig(loadOf(flags), flags.json === true)));

  remote(
    local(program, 'doctor', 'say what is wrong with Redis, configuration, handlers and keys, and how to mend it'),
    {
      tenant: false,
    },
  ).action(async (flags: FileFlags & RemoteFlags) => {
    const [{ examine }, { findingLines }] = await Promise.all([
      import('../doctor/doctor.js'),
      import('../doctor/finding.js'),
    ]);
    const { url, key } = environment();
    const isAsked = (flags.url ?? url ?? flags.key ?? key) !== undefined;
    const findings = await examine(loadOf(flags), isAsked ? openRemote(flags) : undefined);
    const healthy = findings.every(({ level }) => level !== 'fault');
    writeOut(flags.json === true ? [JSON.stringify({ healthy, findings })] : findingLines(findings));
    setCode(healthy ? 0 : 1);
  });
}

async function checkConfig(load: WorkerOrder['load'], json: boolean): Promise<number> {
  const [{ loadConfig }, { configWarnings }, { missingVariables }] = await Promise.all([
    import('../../config/load-config.js'),
    import('../../config/config-warnings.js'),
    import('../../config/built-in-handlers.js'),
  ]);
  const { variables } = environment();
  try {
    const config = await loadConfig({ env: variables, cwd: process.cwd(), ...load });
    const warnings = [...configWarnings(config).map(({ message }) => message), ...missingVariables(config, variables)];
    const file = config.file ?? 'the configuration that comes with Headgate';
    const text = [`${file} can be used`, ...warnings.map((warning) => `warning: ${warning}`)];
    writeOut(json ? [JSON.stringify({ usable: true, file: config.file, warnings })] : text);
    return 0;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (json) writeOut([JSON.stringify({ usable: false, problems: error.problems })]);
    else process.stderr.write(`${error.message}\n`);
    return 2;
  }
}
