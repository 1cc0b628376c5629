const unitsMs: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const wholeDuration = /^[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|[smh]))+$/;

/** A time as Go writes it, such as `1m30s`, in milliseconds; undefined for what is none. */
export function goDurationMs(text: string): number | undefined {
  if (text === '0') return 0;
  if (text.length > 100 || !wholeDuration.test(text)) return undefined;
  const parts = text.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|ms|[smh])/g);
  const totalMs = Array.from(parts).reduce((sum, [, number, unit = '']) => sum + Number(number) * (unitsMs[unit] ?? 0), 0);
  return text.startsWith('-') ? -totalMs : totalMs;
}
