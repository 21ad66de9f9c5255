/**
 * @typedef {'full' | 'refusing' | 'noisy' | 'starved' | 'paused' | 'held'} Trouble
 *
 * @typedef {object} TypeRow one type as a whole; rates in cost units a second
 * @property {string} type
 * @property {number} inPerSecond
 * @property {number} outPerSecond
 * @property {number | null} capacityPerSecond
 * @property {number} running
 * @property {number | null} concurrency
 * @property {number | null} busy
 * @property {number} waiting
 * @property {number} delayed
 * @property {number | null} oldestMs
 * @property {number | null} slipMs
 * @property {number} readyBuckets
 * @property {number} backloggedBuckets
 * @property {number} scarceForMs
 * @property {boolean} paused
 * @property {boolean} behind
 * @property {number | null} jain
 *
 * @typedef {object} BucketRow one bucket
 * @property {string} tenant
 * @property {'shape' | 'police'} [mode]
 * @property {number} level
 * @property {number} burst
 * @property {number | null} depth
 * @property {number} waiting
 * @property {number} delayed
 * @property {number} running
 * @property {number | null} ratePerSecond
 * @property {number} weight
 * @property {string | null} nextStartAt
 * @property {number} refusedPerMinute
 * @property {number | null} received
 * @property {number | null} deserved
 * @property {boolean} paused
 * @property {Trouble[]} trouble
 *
 * @typedef {{ tenant: string, received: number, deserved: number }} Share
 *
 * @typedef {object} Summary what stands out among all buckets of the type
 * @property {string} type
 * @property {Partial<Record<Trouble, number>>} counts
 * @property {Partial<Record<Trouble, string[]>>} names
 * @property {{ tenant: string, at: string } | null} nextStart
 * @property {Share[]} shares
 *
 * @typedef {object} TenantDetail
 * @property {string} tenant
 * @property {string} type
 * @property {BucketRow | null} row
 * @property {{ p50: number, p90: number, p99: number } | null} waitMs
 * @property {number[][]} points [at, in, out, refused] each
 *
 * @typedef {object} View what a stream was asked for
 * @property {string} type
 * @property {string} q
 * @property {string} sort
 * @property {number} from
 * @property {number} count
 * @property {string | null} tenant
 *
 * @typedef {object} Hello
 * @property {string} at
 * @property {'admin' | 'tenant'} role
 * @property {string} [tenant]
 * @property {string} type
 * @property {string[]} types
 * @property {string} version
 *
 * @typedef {{ total: number, from: number, order: string[], rows: ReadonlyMap<string, BucketRow> }} Buckets
 *
 * @typedef {object} StreamState everything that the page knows of the system; never changed in place
 * @property {View} view
 * @property {readonly string[]} heard events that this stream has sent; the first of each replaces what another one said
 * @property {Hello | null} hello
 * @property {ReadonlyMap<string, TypeRow>} overview
 * @property {{ type: string, points: (number | null)[][] }} history [at, in, out, refused, waiting, running] each
 * @property {Buckets | null} buckets
 * @property {Summary | null} summary
 * @property {TenantDetail | null} tenant
 * @property {boolean} redisUp
 */

/** How much of the past is kept. */
const HISTORY_MS = 15 * 60_000;

/** @type {View} */
const FIRST_VIEW = { type: '', q: '', sort: 'trouble', from: 0, count: 60, tenant: null };

/** @returns {StreamState} of a page that has heard nothing yet */
export function emptyState() {
  return {
    view: FIRST_VIEW,
    heard: [],
    hello: null,
    overview: new Map(),
    history: { type: '', points: [] },
    buckets: null,
    summary: null,
    tenant: null,
    redisUp: true,
  };
}

/**
 * What is known when another stream is opened: what still fits stays until the new one has spoken.
 *
 * @param {StreamState} state
 * @param {View} view
 * @returns {StreamState}
 */
export function openView(state, view) {
  const sameType = view.type === state.view.type;
  const sameTenant = sameType && view.tenant === state.view.tenant;
  return {
    ...state,
    view,
    heard: [],
    hello: state.hello === null ? null : { ...state.hello, type: view.type },
    history: sameType ? state.history : { type: view.type, points: [] },
    buckets: sameType ? state.buckets : null,
    summary: sameType ? state.summary : null,
    tenant: sameTenant ? state.tenant : null,
  };
}

/**
 * What is known after an event of the stream. An event that the page does not know changes nothing.
 *
 * @param {StreamState} state
 * @param {string} name of the event
 * @param {any} data of the event
 * @returns {StreamState}
 */
export function applyEvent(state, name, data) {
  const first = !state.heard.includes(name);
  const change = changeOf(state, name, data, first);
  if (change === null) return state;
  return { ...state, ...change, heard: first ? [...state.heard, name] : state.heard };
}

/**
 * @param {StreamState} state
 * @param {string} name
 * @param {any} data
 * @param {boolean} first
 * @returns {Partial<StreamState> | null}
 */
function changeOf(state, name, data, first) {
  switch (name) {
    case 'hello':
      return { hello: data, redisUp: true, view: { ...state.view, type: data.type } };
    case 'overview':
      return { overview: withRows(first ? new Map() : state.overview, data.types, ({ type }) => type) };
    case 'history':
      return { history: { type: data.type, points: data.points } };
    case 'point':
      return data.type === state.history.type ? { history: withPoint(state.history, data.point) } : {};
    case 'buckets':
      return { buckets: withBuckets(first ? null : state.buckets, data, state.view.from) };
    case 'summary':
      return { summary: data };
    case 'tenant':
      return { tenant: data };
    case 'redis':
      return { redisUp: data.up };
    default:
      return null;
  }
}

/**
 * @param {Buckets | null} before
 * @param {{ total: number, order?: string[], rows: BucketRow[] }} data
 * @param {number} from
 * @returns {Buckets}
 */
function withBuckets(before, data, from) {
  const order = data.order ?? before?.order ?? [];
  const known = withRows(before?.rows ?? new Map(), data.rows, ({ tenant }) => tenant);
  // Who left the window is forgotten: what is kept is bounded by what is seen.
  const seen = new Set(order);
  const rows = new Map([...known].filter(([tenant]) => seen.has(tenant)));
  return { total: data.total, from, order, rows };
}

/**
 * @template T
 * @param {ReadonlyMap<string, T>} before
 * @param {T[]} rows
 * @param {(row: T) => string} keyOf
 * @returns {ReadonlyMap<string, T>}
 */
function withRows(before, rows, keyOf) {
  return new Map([...before, ...rows.map((row) => /** @type {[string, T]} */ ([keyOf(row), row]))]);
}

/** @param {{ type: string, points: (number | null)[][] }} history @param {(number | null)[]} point */
function withPoint({ type, points }, point) {
  const at = point[0] ?? 0;
  const isKept = (/** @type {number} */ other) => other > at - HISTORY_MS && other < at;
  const kept = points.filter(([other]) => isKept(other ?? 0));
  return { type, points: [...kept, point] };
}
