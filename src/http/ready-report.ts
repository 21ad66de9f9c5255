/** What a readiness probe found. */
export interface ReadyReport {
  readonly ready: boolean;
  /** Ready, but for less than usual. */
  readonly degraded?: boolean;
  /** One entry per thing that has to work, in words for people (`redis: 'no answer for 12 s'`). */
  readonly checks: Readonly<Record<string, string>>;
}
