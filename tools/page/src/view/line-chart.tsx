import { Component, createRef, type VNode } from 'preact';
import uPlot from 'uplot';
import { timeOfDay } from '../text/format.ts';

export interface ChartSeries {
  readonly name: string;
  /** The last part of a colour's name in the style sheet: `--series-NAME`. */
  readonly colour: string;
  readonly format: (value: number) => string;
}

type Values = readonly (number | null)[];

export interface LineChartProps {
  readonly title: string;
  readonly subtitle: string;
  readonly seconds: readonly number[];
  /** One list for each series. */
  readonly values: readonly Values[];
  readonly series: readonly ChartSeries[];
  readonly axis: (value: number) => string;
  /** True for numbers of things: where nothing was for a while, no line is drawn over the others. */
  readonly isCount?: boolean;
  /** True for parts of a whole: each stands on those after it. */
  readonly isStacked?: boolean;
}

const height = 132;
/** The lower end of the scale of delays; what is shorter is drawn there. */
const shortestDelayMs = 1;

/** Lines over the last minutes. The legend says the values under the pointer, else the newest ones. */
export class LineChart extends Component<LineChartProps> {
  readonly #box = createRef<HTMLDivElement>();
  #plot: uPlot | undefined;
  #resizes: ResizeObserver | undefined;

  override componentDidMount(): void {
    const box = this.#box.current;
    if (box === null) return;
    this.#plot = new uPlot(
      optionsOf(this.props, () => this.setState({})),
      this.#data(),
      box,
    );
    this.#resizes = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry?.contentRect.width ?? 0);
      if (width > 0) this.#plot?.setSize({ width, height });
    });
    this.#resizes.observe(box);
  }

  override componentDidUpdate(before: LineChartProps): void {
    // Also when nothing is new the colours may be: the theme can change.
    if (before.seconds !== this.props.seconds) this.#plot?.setData(this.#data());
  }

  override componentWillUnmount(): void {
    this.#resizes?.disconnect();
    this.#plot?.destroy();
  }

  override render({ title, subtitle, series }: LineChartProps): VNode {
    const values = series.map((_, index) => this.#valueOf(index));
    return (
      <figure class="chart">
        <figcaption>
          <strong>{title}</strong> <span class="muted">{subtitle}</span>
          <span class="spring" />
          {series.map(({ name, colour, format }, index) => (
            <span class="legend" key={name}>
              <i class="line" style={{ color: `var(--series-${colour})` }} aria-hidden="true" />
              {name} <b>{values[index] === undefined ? '–' : format(values[index])}</b>
            </span>
          ))}
        </figcaption>
        <div ref={this.#box} class="plot" aria-hidden="true" />
      </figure>
    );
  }

  #data(): uPlot.AlignedData {
    const { seconds, values, isCount = false, isStacked = false } = this.props;
    if (isStacked) return [seconds, ...stacked(values)] as unknown as uPlot.AlignedData;
    return [seconds, ...values.map(isCount ? withoutFlatZeros : atLeastShortest)] as unknown as uPlot.AlignedData;
  }

  #valueOf(series: number): number | undefined {
    const values = this.props.values[series] ?? [];
    const pointed = this.#plot?.cursor.idx;
    if (typeof pointed === 'number') return values[pointed] ?? undefined;
    return values.findLast((value) => value !== null) ?? undefined;
  }
}

/** Each with the sum of those after it added. */
function stacked(values: readonly Values[]): Values[] {
  return values.map((own, index) => own.map((_, at) => values.slice(index).reduce((sum, one) => sum + (one[at] ?? 0), 0)));
}

/** Zeros between zeros are left out. */
function withoutFlatZeros(values: Values): Values {
  return values.map((value, at) => (value === 0 && !values[at - 1] && !values[at + 1] ? null : value));
}

/** A scale by powers of ten has no zero. */
function atLeastShortest(values: Values): Values {
  return values.map((value) => (value === null ? null : Math.max(shortestDelayMs, value)));
}

/** The points with nothing on either side, which no line shows. */
function lonePoints(plot: uPlot, series: number): number[] {
  const values = plot.data[series] ?? [];
  return [...values.keys()].filter((at) => values[at] != null && values[at - 1] == null && values[at + 1] == null);
}

/** A colour of the style sheet as it is now, light or dark. */
function colourOf(name: string): string {
  const probe = document.getElementById('colour-probe');
  if (probe === null) return 'gray';
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

const countScale: uPlot.Scale = { range: (_, __, max) => [0, Math.max(max * 1.1, 5)] };
/** Each line of the grid is ten times the one below: a slow second does not press all others to the ground. */
const delayScale: uPlot.Scale = {
  distr: 3,
  log: 10,
  range: (_, __, max) => [shortestDelayMs, 10 ** Math.ceil(Math.log10(Math.max(max, 100)))],
};

function powersOfTen(_: uPlot, __: number, min: number, max: number): number[] {
  const first = Math.round(Math.log10(min));
  return Array.from({ length: Math.round(Math.log10(max)) - first + 1 }, (_, index) => 10 ** (first + index));
}

function optionsOf({ series, axis, isCount = false, isStacked = false }: LineChartProps, onPoint: () => void): uPlot.Options {
  const grid = { stroke: () => colourOf('border'), width: 1 };
  const axisLook = { stroke: () => colourOf('muted'), grid, ticks: { show: false }, font: '11px system-ui, sans-serif' };
  return {
    width: 300,
    height,
    padding: [8, 18, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
    scales: { x: { time: true }, y: isCount ? countScale : delayScale },
    axes: [
      { ...axisLook, incrs: [60, 120], size: 24, values: (_, ticks) => ticks.map((tick) => timeOfDay(tick * 1000).slice(0, 5)) },
      {
        ...axisLook,
        size: 56,
        space: 28,
        values: (_, ticks) => ticks.map(axis),
        ...(isCount ? {} : { splits: powersOfTen, filter: (_, ticks) => ticks }),
      },
    ],
    series: [
      {},
      ...series.map(({ colour }) => ({
        stroke: () => colourOf(`series-${colour}`),
        width: 1.5,
        ...(isStacked && { fill: () => colourOf(`series-${colour}`).replace(')', ', 0.3)').replace('rgb', 'rgba') }),
        points: { show: true, size: 3, fill: () => colourOf(`series-${colour}`), filter: lonePoints },
      })),
    ],
    ...(isStacked && { bands: series.slice(1).map((_, index) => ({ series: [index + 1, index + 2] as uPlot.Band.Bounds })) }),
    hooks: { setCursor: [onPoint] },
  };
}
