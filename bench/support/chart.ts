import { init } from 'echarts';

export interface BarPanel {
  readonly title: string;
  readonly unit: string;
  readonly categories: readonly string[];
  /** Each series has one value per category. */
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[];
  readonly logarithmic?: boolean;
}

const colors = ['#3b6fb6', '#d98a2b', '#7f8c8d', '#5a9e6f'];
const panelWidth = 520;
const panelHeight = 320;

/** Grouped bars as SVG text, two panels in a row. */
export function barChart(panels: readonly BarPanel[]): string {
  const columns = Math.min(2, panels.length);
  const rows = Math.ceil(panels.length / columns);
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: columns * panelWidth, height: rows * panelHeight + 30 });
  const left = (index: number): number => (index % columns) * panelWidth;
  const top = (index: number): number => Math.floor(index / columns) * panelHeight + 30;
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    color: colors,
    // the viewer's font may be wider than the font measured here
    legend: { top: 4, itemGap: 50, data: [...new Set(panels.flatMap(({ series }) => series.map(({ name }) => name)))] },
    title: panels.map((panel, index) => ({
      text: `${panel.title} [${panel.unit}]`,
      left: left(index) + 16,
      top: top(index) + 4,
      textStyle: { fontSize: 13, fontWeight: 'normal' },
    })),
    grid: panels.map((_, index) => ({
      left: left(index) + 60,
      top: top(index) + 40,
      width: panelWidth - 90,
      height: panelHeight - 85,
    })),
    xAxis: panels.map((panel, gridIndex) => ({ type: 'category', gridIndex, data: [...panel.categories] })),
    yAxis: panels.map((panel, gridIndex) => ({ type: panel.logarithmic ? 'log' : 'value', gridIndex })),
    series: panels.flatMap((panel, index) =>
      panel.series.map(({ name, values }) => ({
        name,
        type: 'bar' as const,
        xAxisIndex: index,
        yAxisIndex: index,
        color: colors[seriesIndex(panels, name)] ?? '#000000',
        data: values.map((value) => Number(value.toPrecision(3))),
        label: { show: true, position: 'top' as const, fontSize: 9 },
      })),
    ),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

/** A series has one color in all panels. */
function seriesIndex(panels: readonly BarPanel[], name: string): number {
  return [...new Set(panels.flatMap(({ series }) => series.map((one) => one.name)))].indexOf(name);
}
