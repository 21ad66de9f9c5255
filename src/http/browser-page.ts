import type { DoorTally } from './door-tally.js';
import type { HttpApp, RouteParts } from './http-app.js';
import type { KeyParts } from './key-check.js';
import type { SessionCheck } from './session-check.js';
import type { Sessions } from './sessions.js';

/** What the routes of a page stand on. */
export interface PageParts extends RouteParts {
  /** Which keys sign in. */
  readonly keys: KeyParts;
  /** Who is signed in. */
  readonly sessions: SessionCheck;
}

/** A page for browsers: it stands at `/`, and signs in for the routes of the API. */
export interface BrowserPage {
  readonly sessions: Sessions;
  /** Is told what becomes of jobs at the door. */
  readonly tally: DoorTally;
  /** Adds the routes, which see to keys by themselves. */
  routes(app: HttpApp, parts: PageParts): Promise<void>;
}
