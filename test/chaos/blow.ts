/** One fault of a run. Instants by the referee's clock. */
export interface Blow {
  readonly fault: string;
  readonly from: number;
  /** When everything was whole and at work again. */
  readonly to: number;
  /** From when everything was whole again (or, where others went on, from the blow) until all APIs were ready and a job had started since. */
  readonly recoveryMs: number;
}
