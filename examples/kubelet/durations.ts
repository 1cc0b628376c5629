const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** A time as Kubernetes writes it, such as `1m30s`, in milliseconds; undefined for what is none. */
export function durationMs(text: unknown): number | undefined {
  if (typeof text !== 'string' || !/^(?:\d+(?:\.\d+)?(?:ms|[smh]))+$/.test(text))
    return text === '0' || text === 0 ? 0 : undefined;
  let total = 0;
  for (const [, number, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smh])/g)) total += Number(number) * (unitsMs[unit] ?? 0);
  return total;
}
