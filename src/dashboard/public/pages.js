/** @import { Route } from './pure/route.js' */
/** @import { StreamState } from './pure/stream-state.js' */
/** @import { LiveStream } from './net/live-stream.js' */
import { JobPage } from './views/job-page.js';
import { OverviewPage } from './views/overview-page.js';
import { SubmitPage } from './views/submit-page.js';
import { TenantPage } from './views/tenant-page.js';

/**
 * @typedef {object} Context what a page works with
 * @property {LiveStream} stream
 * @property {Session} session
 *
 * @typedef {{ role: 'admin' | 'tenant', tenant?: string }} Session
 *
 * @typedef {object} Page one place of the dashboard, as long as somebody is there
 * @property {HTMLElement} element
 * @property {string} title
 * @property {(state: StreamState) => void} update something is known anew
 * @property {() => void} tick some time has passed
 * @property {() => void} close nobody is there any more
 */

/**
 * What an address leads to. A tenant that goes to somebody else's page comes to its own overview.
 *
 * @param {Context} context
 * @param {Route} route
 * @returns {Page}
 */
export function openPage(context, route) {
  const { role, tenant } = context.session;
  const isForeign = role === 'tenant' && route.page === 'tenant' && route.tenant !== tenant;
  switch (isForeign ? 'overview' : route.page) {
    case 'overview':
      return new OverviewPage(context, route);
    case 'tenant':
      return new TenantPage(context, route);
    case 'job':
      return new JobPage(context, route);
    case 'submit':
      return new SubmitPage(context, route);
  }
}
