import { eventText } from '../http/event-text.js';
import type { Principal } from '../http/keyring.js';
import type { Reader, Wanted, Watcher } from './reader.js';
import { shownPrincipal } from './session-routes.js';
import { AdminSight, type Sight, TenantSight, type View } from './sight.js';
import { SentRows, SentValues } from './view/changes.js';
import { STEP_MS } from './view/history.js';

export interface PageStreamParts {
  readonly reader: Reader;
  readonly principal: Principal;
  readonly view: View;
  readonly version: string;
  /** Takes the text of events. */
  readonly send: (text: string) => void;
}

/** What one page is told: what it looks at as it is, and from then on what changes. */
export class PageStream implements Watcher {
  readonly #parts: PageStreamParts;
  readonly #sight: Sight;
  readonly #sentRows = new SentRows();
  readonly #sentTypes = new SentValues();
  readonly #sentOthers = new SentValues();
  #told: { readonly up: boolean; readonly history: boolean } = { up: true, history: false };

  constructor(parts: PageStreamParts) {
    const { reader, principal, view } = parts;
    this.#parts = parts;
    this.#sight =
      principal.kind === 'admin' ? new AdminSight(reader, view) : new TenantSight(reader, view, principal.tenant);
  }

  wanted(): Wanted {
    return this.#sight.wanted();
  }

  /** What is known already. */
  begin(): void {
    const { reader, principal, view, version, send } = this.#parts;
    const { type = '' } = view;
    const types = [...reader.types.keys()];
    send(eventText('hello', { at: now(), ...shownPrincipal(principal), type, types, version }));
    if (reader.hasRead) this.onReading(reader.isUp);
  }

  onReading(isUp: boolean): void {
    const texts = [...(isUp === this.#told.up ? [] : [eventText('redis', { up: isUp })])];
    if (isUp) texts.push(...this.#news());
    this.#told = { up: isUp, history: this.#told.history || isUp };
    if (texts.length > 0) this.#parts.send(texts.join(''));
  }

  *#news(): Iterable<string> {
    const { type } = this.#parts.view;
    const at = now();
    const types = this.#sentTypes.since(new Map(this.#sight.types().map((row) => [row.type, row])));
    if (types.length > 0) yield eventText('overview', { at, types });
    if (type === undefined) return;
    const point = this.#sight.point();
    if (!this.#told.history) yield eventText('history', { type, stepMs: STEP_MS, points: this.#sight.points() });
    else if (point !== undefined) yield eventText('point', { type, point });
    const { total, rows } = this.#sight.window();
    const buckets = this.#sentRows.since(total, rows);
    if (buckets !== undefined) yield eventText('buckets', { at, type, ...buckets });
    const [summary, opened] = [this.#sight.summary(), this.#sight.opened()];
    if (this.#isNews('summary', summary)) yield eventText('summary', { at, ...summary });
    if (this.#isNews('tenant', opened)) yield eventText('tenant', opened);
  }

  #isNews(event: string, data: unknown): boolean {
    return data !== undefined && this.#sentOthers.since(new Map([[event, data]])).length > 0;
  }
}

function now(): string {
  return new Date().toISOString();
}
