/** What the OpenAPI document says of a route beside the schemas that its requests and answers are held to. */
export interface DescribedRoute {
  /** A few words. */
  readonly summary: string;
  readonly description: string;
  /** Whose key opens it; a tenant's or an admin's unless stated. */
  readonly key?: 'none' | 'admin' | 'gateway' | 'worker';
  /** Headers of the request that mean something here. */
  readonly headers?: readonly RequestHeader[];
  /** What each answer below 400 means, by its status. */
  readonly answers: Readonly<Record<number, string>>;
  /** By name. A test sends every one of them, in the world of `example-world.ts`. */
  readonly examples: Readonly<Record<string, RouteExample>>;
}

/** One request, and the answer to it. */
export interface RouteExample {
  /** Parameters of the path. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly headers?: Readonly<Partial<Record<RequestHeader, string>>>;
  readonly body?: unknown;
  readonly status: number;
  /** Absent where there is no body. Of a map it may show a part. */
  readonly answer?: unknown;
}

/** Routes by method and path, as in `GET /v1/jobs/{id}`; `ANY` stands for every method. */
export type DescribedRoutes = Readonly<Record<string, DescribedRoute>>;

/** Every header of a request that some route looks at, beside the keys and what HTTP itself has. */
export const REQUEST_HEADERS = {
  'Idempotency-Key':
    '1 to 255 visible characters of ASCII: a job is stored once under it, however often it is posted. Scope: tenant and type',
  Prefer:
    '`wait=N`: answer when the job has ended, at the latest after N whole seconds, of which at most 60 are granted',
  'Last-Event-ID': 'the id of the last message of this stream that was read: it goes on from there',
  'X-Headgate-Subject': 'who calls, where the gateway has made sure of it; without it, the address of its client',
  'X-Headgate-Tier': 'the tier of who calls',
  'X-Original-Method': 'method of the request that the gateway asks about',
  'X-Original-URI': 'its path and query',
} as const;
export type RequestHeader = keyof typeof REQUEST_HEADERS;
