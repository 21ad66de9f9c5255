import { dashboard } from '../../../src/dashboard/dashboard.js';
import type { LiveParts } from '../../http/support/live-app.js';

/** Has an app show the dashboard; whatever nobody foresaw fails the test that it happens in. */
export const withDashboard: LiveParts = (on) => ({
  page: dashboard({
    ...on,
    version: '1.2.3',
    onError: (error) => {
      throw error;
    },
  }),
});
