import { readFile } from 'node:fs/promises';

/** The dashboard that people import into their Grafana. */
export const GRAFANA_DASHBOARD = new URL('../../docs/grafana/headgate.json', import.meta.url);

/** A place of a dashboard, 24 columns wide, as Grafana keeps it; only what is read of it. */
export interface GrafanaPanel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly targets?: readonly GrafanaTarget[];
}

/** One query of a panel. */
export interface GrafanaTarget {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat: string;
  readonly datasource: { readonly type: string; readonly uid: string };
}

export interface GrafanaDashboard {
  readonly panels: readonly GrafanaPanel[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly query: string | { readonly query: string } }[];
  };
}

export async function grafanaDashboard(): Promise<GrafanaDashboard> {
  return JSON.parse(await readFile(GRAFANA_DASHBOARD, 'utf8'));
}

/** A query as Prometheus gets it: over so long, and of the types that somebody chose, of all unless stated. */
export function asAsked({ expr }: GrafanaTarget, interval: string, types = '.*'): string {
  return expr.replaceAll('$__rate_interval', interval).replaceAll('$type', types);
}
