const unitsMs: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|[smh])/g;
const whole = /^[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|[smh]))+$/;

/** A time as Go writes it, such as `1m30s`, in milliseconds; undefined for what is none. */
export function durationMs(text: unknown): number | undefined {
  if (typeof text !== 'string' || !whole.test(text)) return text === '0' || text === 0 ? 0 : undefined;
  let total = 0;
  for (const [, number, unit = ''] of text.matchAll(part)) total += Number(number) * (unitsMs[unit] ?? 0);
  return text.startsWith('-') ? -total : total;
}
