import { writeFile } from 'node:fs/promises';
import { LineChart } from 'echarts/charts';
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';

use([LineChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

export interface Plot {
  readonly title: string;
  /** What stands at the vertical axis, with its unit. */
  readonly unit: string;
  readonly isLogarithmic: boolean;
  readonly sizes: readonly number[];
  /** A value for each size, by the name of the line; `null` where there is none. */
  readonly lines: ReadonlyMap<string, readonly (number | null)[]>;
}

/** Draws lines over the number of tenants and writes them as SVG. */
export async function writePlot(file: string, { title, unit, isLogarithmic, sizes, lines }: Plot): Promise<void> {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 720, height: 360 });
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    title: { text: title, left: 'center', textStyle: { fontSize: 15 } },
    legend: { bottom: 0 },
    grid: { left: 70, right: 30, top: 50, bottom: 75 },
    xAxis: {
      type: 'category',
      data: sizes.map((size) => size.toLocaleString('en')),
      name: 'tenants',
      nameLocation: 'middle',
      nameGap: 26,
    },
    yAxis: { type: isLogarithmic ? 'log' : 'value', name: unit },
    series: [...lines].map(([name, data]) => ({ type: 'line', name, data: [...data], symbolSize: 8 })),
  });
  await writeFile(file, chart.renderToSVGString());
  chart.dispose();
}
