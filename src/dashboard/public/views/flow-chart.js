import uPlot from '/dashboard/uplot/uPlot.esm.js';
import { h, say } from '../dom/element.js';
import { onThemeChange } from '../dom/theme.js';
import { clock, units } from '../pure/format.js';
import { timeMarks, timeSpan } from '../pure/time-axis.js';

/**
 * @typedef {object} Line
 * @property {string} name
 * @property {string} color name of a custom property
 * @property {number[]} [dash]
 * @property {boolean} [filled]
 */

/** Numbers over the last minutes: lines that differ in their dashes as in their colours, and their values in words. */
export class FlowChart {
  element;
  #lines;
  #height;
  #frame = h('div', { class: 'chart-frame', role: 'img' });
  #values;
  #when = h('span', { class: 'muted' });
  /** @type {uPlot | null} */
  #plot = null;
  /** @type {(number | null)[][]} */
  #points = [];
  #resized = new ResizeObserver(() => this.#fit());
  #endTheme = onThemeChange(() => this.#remake());

  /** @param {string} title @param {Line[]} lines in the order of the numbers of a point @param {number} [height] */
  constructor(title, lines, height = 120) {
    this.#lines = lines;
    this.#height = height;
    this.#frame.setAttribute('aria-label', title);
    this.#values = lines.map(() => h('strong'));
    const key = lines.map(({ name, color, dash }, index) => {
      const sample = h('i', {
        class: `sample ${dash === undefined ? 'solid' : (dash[0] ?? 0) > 3 ? 'dashed' : 'dotted'}`,
      });
      sample.style.setProperty('border-color', `var(${color})`);
      return h('li', {}, sample, `${name} `, this.#values[index] ?? null);
    });
    const head = h('div', { class: 'chart-head' }, h('h3', {}, title), this.#when);
    this.element = h('figure', { class: 'chart' }, head, this.#frame, h('ul', { class: 'chart-key' }, ...key));
    this.#resized.observe(this.#frame);
  }

  close() {
    this.#resized.disconnect();
    this.#endTheme();
    this.#plot?.destroy();
  }

  /** @param {(number | null)[][]} points the instant and one number for each line; none where nobody looked */
  update(points) {
    if (points === this.#points) return;
    this.#points = points;
    if (this.#plot === null) this.#make();
    else this.#plot.setData(columns(points, this.#lines.length));
    this.#sayValues(null);
  }

  /** @param {number | null | undefined} index of a point; the last one unless given */
  #sayValues(index) {
    const point = this.#points[index ?? this.#points.length - 1];
    say(this.#when, point === undefined ? 'nothing yet' : index == null ? 'last 15 min' : clock(point[0] ?? 0));
    for (const [line, value] of this.#values.entries()) {
      const number = point?.[line + 1];
      say(value, number === null ? '–' : units(number ?? 0));
    }
  }

  #remake() {
    this.#plot?.destroy();
    this.#plot = null;
    if (this.#points.length > 0) this.#make();
  }

  #make() {
    const width = this.#frame.clientWidth;
    if (width === 0 || this.#points.length === 0) return;
    const color = (/** @type {string} */ name) => paint(this.#frame, name);
    const axis = {
      stroke: color('--chart-text'),
      font: '11px system-ui',
      ticks: { show: false },
      grid: { stroke: color('--chart-grid'), width: 1 },
    };
    const options = {
      width,
      height: this.#height,
      legend: { show: false },
      padding: /** @type {[number, number, number, number]} */ ([8, 6, 0, 0]),
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
      scales: {
        x: {
          time: true,
          // uPlot takes a point that is alone for the beginning of a thousand days.
          range: () => timeSpan(this.#points),
        },
        y: {
          range: (/** @type {any} */ _, /** @type {number} */ _low, /** @type {number} */ high) =>
            /** @type {[number, number]} */ ([0, Math.max(1, high * 1.1)]),
        },
      },
      axes: [
        {
          ...axis,
          size: 24,
          space: 60,
          values: (/** @type {any} */ _, /** @type {number[]} */ marks) => timeMarks(marks),
        },
        {
          ...axis,
          size: 40,
          space: 28,
          values: (/** @type {any} */ _, /** @type {number[]} */ splits) => splits.map((split) => units(split)),
        },
      ],
      series: [
        {},
        ...this.#lines.map(({ color: name, dash, filled }) => ({
          stroke: color(name),
          width: 1.6,
          points: { show: false },
          ...(dash === undefined ? {} : { dash }),
          ...(filled ? { fill: color('--chart-fill') } : {}),
        })),
      ],
      hooks: { setCursor: [(/** @type {uPlot} */ plot) => this.#sayValues(plot.cursor.idx)] },
    };
    this.#plot = new uPlot(options, columns(this.#points, this.#lines.length), this.#frame);
  }

  #fit() {
    if (this.#plot === null) return this.#remake();
    const width = this.#frame.clientWidth;
    if (width > 0 && width !== this.#plot.width) this.#plot.setSize({ width, height: this.#height });
  }
}

/** @param {(number | null)[][]} points @param {number} lines @returns {[number[], ...(number | null)[][]]} */
function columns(points, lines) {
  const times = points.map(([at]) => (at ?? 0) / 1000);
  return [times, ...Array.from({ length: lines }, (_, line) => points.map((point) => point[line + 1] ?? null))];
}

/** The color that a custom property stands for here and now: a canvas knows no properties. @param {HTMLElement} element @param {string} name */
function paint(element, name) {
  element.style.setProperty('color', `var(${name})`);
  const { color } = getComputedStyle(element);
  element.style.removeProperty('color');
  return color;
}
