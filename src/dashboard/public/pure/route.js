/**
 * @typedef {object} Route where on the page somebody is; it stands in the address, so that a reload stays there
 * @property {'overview' | 'tenant' | 'job' | 'submit'} page
 * @property {string} type empty: the first
 * @property {string} tenant of a tenant's page, and whose job it is
 * @property {string} id of a job
 * @property {string} q searched for
 * @property {'trouble' | 'tenant' | 'level' | 'waiting'} sort
 * @property {string} state which jobs of the tenant are listed
 */

export const SORTS = /** @type {const} */ (['trouble', 'tenant', 'level', 'waiting']);
export const STATES = ['waiting', 'delayed', 'active', 'completed', 'failed', 'expired', 'cancelled'];

/** @type {Route} */
const START = { page: 'overview', type: '', tenant: '', id: '', q: '', sort: 'trouble', state: 'waiting' };

/**
 * Reads an address. One that leads nowhere leads to the overview.
 *
 * @param {string} hash with or without its `#`
 * @returns {Route}
 */
export function readRoute(hash) {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const asked = new URLSearchParams(query);
  const [page = '', ...names] = path.split('/').map(decoded);
  const [first = '', second = ''] = names;
  const common = {
    ...START,
    q: asked.get('q') ?? '',
    sort: sortOf(asked.get('sort')),
    state: stateOf(asked.get('state')),
  };
  if (page === 'type') return { ...common, type: first };
  if (page === 'tenant' && second !== '') return { ...common, page, type: first, tenant: second };
  if (page === 'job' && first !== '') return { ...common, page, id: first, tenant: asked.get('tenant') ?? '' };
  if (page === 'submit') return { ...common, page, type: first, tenant: asked.get('tenant') ?? '' };
  return common;
}

/**
 * The address of a place: `readRoute` of it is the same place.
 *
 * @param {Partial<Route>} place
 * @returns {string} with its `#`
 */
export function hashOf(place) {
  const { page, type, tenant, id, q, sort, state } = { ...START, ...place };
  switch (page) {
    case 'tenant':
      return address(['tenant', type, tenant], { state: state === START.state ? '' : state });
    case 'job':
      return address(['job', id], { tenant });
    case 'submit':
      return address(['submit', type], { tenant });
    case 'overview':
      return address(type === '' ? [] : ['type', type], { q, sort: sort === START.sort ? '' : sort });
  }
}

/** @param {string[]} names @param {Record<string, string>} asked */
function address(names, asked) {
  const query = new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== '')).toString();
  return `#/${names.map(encodeURIComponent).join('/')}${query === '' ? '' : `?${query}`}`;
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {string | null} text @returns {Route['sort']} */
function sortOf(text) {
  return SORTS.find((sort) => sort === text) ?? START.sort;
}

/** @param {string | null} text */
function stateOf(text) {
  return STATES.find((state) => state === text) ?? START.state;
}
