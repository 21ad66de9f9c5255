import type { OutageLogger } from '../policing/outage-log.js';
import type { Caller, Decision, Policing } from '../policing/policing.js';

/** Units that a request takes: 1e-6 to 1e9. */
export type Cost<Request> = number | ((request: Request) => number | Promise<number>);

/** A policy as under `policies:` in the configuration file: `{ rate: '2/s', burst: 100 }`. */
export type PolicyStatement = Readonly<Record<string, unknown>>;

/** A route as under `routes:` in the configuration file: `{ method: 'POST', path: '/uploads/*', policy: 'api', cost: 10 }`. */
export type RouteStatement = Readonly<Record<string, unknown>>;

/** What both plugins are told: where decisions come from, which policy holds for what, and who calls. */
export interface HeadgateOptions<Request, Response> {
  /** One that the program has opened itself, and closes; in place of `policies`. */
  readonly policing?: Policing | undefined;
  /** Policies by name. The plugin opens what they need, and closes it. */
  readonly policies?: Readonly<Record<string, PolicyStatement>> | undefined;
  /**
   * Where the limits stand, as under `redis:` in the configuration file: `redis://…`, `rediss://…`, the path of a unix
   * socket, `env:NAME`, or a mapping. Needed unless every policy is `local`.
   */
  readonly redis?: string | Readonly<Record<string, unknown>> | undefined;
  /** Requests that are held to other policies, or cost something else, by method and path. */
  readonly routes?: readonly RouteStatement[] | undefined;
  /** The policy for all requests that no route names. Without it they pass. */
  readonly policy?: string | undefined;
  /** What a request takes that is held to `policy`; 1 unless stated. A route of the table has its own. */
  readonly cost?: Cost<Request> | undefined;
  /**
   * Who calls: only what the program has proven. The client's address unless stated, as the framework knows it, with
   * IPv4 written in one way and IPv6 by /64. A caller without `tier` is `anonymous`.
   */
  readonly caller?: ((request: Request) => Caller | Promise<Caller>) | undefined;
  /** True for requests that are not looked at. */
  readonly skip?: ((request: Request) => boolean) | undefined;
  /**
   * Answers a refused request in place of the problem document; status and headers are set before. The request goes no
   * further, whatever it does.
   */
  readonly onRefused?: ((request: Request, response: Response, decision: Decision) => unknown) | undefined;
  /**
   * Told once when an outage of Redis begins and once when it is over: a logger of pino, or what has its `warn` and `info`.
   * Fastify's own with fastify, else the console, unless stated.
   */
  readonly logger?: OutageLogger | undefined;
}

/** What a request is held to. */
export interface HeldTo<Request> {
  readonly policy: string;
  readonly cost: Cost<Request>;
}
