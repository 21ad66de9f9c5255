/** How a column is written. */
export interface Column {
  readonly title: string;
  readonly align: 'left' | 'right';
}

/** A table of aligned columns, two spaces apart; one line for the titles and one for each row. */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const all = [columns.map(({ title }) => title), ...rows];
  const widths = columns.map((_, index) => Math.max(...all.map((row) => (row[index] ?? '').length)));
  return all.map((row) =>
    columns
      .map(({ align }, index) => {
        const cell = row[index] ?? '';
        const width = widths[index] ?? 0;
        return align === 'left' ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

/** A part of a whole, as `57 %`; `-` where it is not a number. */
export function percent(part: number, digits = 0): string {
  return Number.isFinite(part) ? `${(100 * part).toFixed(digits)} %` : '-';
}
