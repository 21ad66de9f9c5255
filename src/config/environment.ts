/** What the environment says. An empty variable counts as one that is not set. */
export interface Environment {
  /** All variables, for child processes and for `env:NAME` in the configuration. */
  readonly variables: NodeJS.ProcessEnv;
  /** `REDIS_URL`: the Redis to use where the configuration says `embedded`. */
  readonly redisUrl: string | undefined;
  /** `HEADGATE_CONFIG`: the configuration file, where the command line names none. */
  readonly configFile: string | undefined;
  /** `HEADGATE_LISTEN`: HOST:PORT, over the configuration file. */
  readonly listen: string | undefined;
  /** `HEADGATE_DATA`: the data folder. */
  readonly dataDir: string | undefined;
  /** `HEADGATE_ADMIN_KEY`: an admin key beside those of the configuration. */
  readonly adminKey: string | undefined;
  /** `HEADGATE_URL`: the Headgate that commands of the command line speak to. */
  readonly url: string | undefined;
  /** `HEADGATE_KEY`: the key that they speak with. */
  readonly key: string | undefined;
  /** `PATH`. */
  readonly path: string | undefined;
  /** `HOME`. */
  readonly home: string | undefined;
  /** `XDG_CACHE_HOME`. */
  readonly cacheHome: string | undefined;
  /** `NO_COLOR` is set: plain text only (https://no-color.org). */
  readonly noColor: boolean;
  /** `CI` is set: nobody watches. */
  readonly ci: boolean;
}

/** Reads the environment. Nothing else in Headgate does. */
export function environment(variables: NodeJS.ProcessEnv = process.env): Environment {
  const read = (name: string) => variables[name] || undefined;
  return {
    variables,
    redisUrl: read('REDIS_URL'),
    configFile: read('HEADGATE_CONFIG'),
    listen: read('HEADGATE_LISTEN'),
    dataDir: read('HEADGATE_DATA'),
    adminKey: read('HEADGATE_ADMIN_KEY'),
    url: read('HEADGATE_URL'),
    key: read('HEADGATE_KEY'),
    path: read('PATH'),
    home: read('HOME'),
    cacheHome: read('XDG_CACHE_HOME'),
    noColor: read('NO_COLOR') !== undefined,
    ci: read('CI') !== undefined,
  };
}
