// Behaviour of ParseDuration and Duration.String, Go's package time.

const nanoseconds: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const whole = /^([-+])?((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|0)$/;
const part = /(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g;
const mostNanoseconds = 2n ** 63n - 1n;
/** The time that the expressions take grows with the square of the length. */
const longest = 100;

/** A time such as `1m30s`, in nanoseconds; undefined for a text that is none, and for more than 64 bits hold. */
export function parseGoTime(text: string): bigint | undefined {
  if (text.length > longest) return undefined;
  const [, sign, amounts] = whole.exec(text) ?? [];
  if (amounts === undefined) return undefined;
  let sum = 0n;
  for (const [, integer = '', fraction = '', unit = ''] of amounts.matchAll(part)) {
    const scale = nanoseconds[unit] ?? 0n;
    // no unit has more than 13 digits of nanoseconds
    const digits = fraction.slice(0, 15);
    sum += BigInt(integer || '0') * scale + (BigInt(digits || '0') * scale) / 10n ** BigInt(digits.length);
  }
  if (sum > mostNanoseconds) return undefined;
  return sign === '-' ? -sum : sum;
}

/** The time as Go writes it: `1m30s`, `1.5s`, `2ms`. */
export function goTimeText(time: bigint): string {
  if (time === 0n) return '0s';
  const sign = time < 0n ? '-' : '';
  const size = time < 0n ? -time : time;
  for (const unit of ['ns', 'µs', 'ms'] as const) {
    const scale = nanoseconds[unit] as bigint;
    if (size < scale * 1000n) return `${sign}${decimal(size, scale)}${unit}`;
  }
  const minutes = size / 60_000_000_000n;
  const seconds = `${decimal(size % 60_000_000_000n, 1_000_000_000n)}s`;
  if (minutes === 0n) return `${sign}${seconds}`;
  return minutes < 60n ? `${sign}${minutes}m${seconds}` : `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

function decimal(size: bigint, scale: bigint): string {
  const rest = String(size % scale)
    .padStart(String(scale).length - 1, '0')
    .replace(/0+$/, '');
  return rest === '' ? String(size / scale) : `${size / scale}.${rest}`;
}

/** A time such as `1m30s`, in milliseconds; undefined for a text that is none. */
export function goDurationMs(text: string): number | undefined {
  const time = parseGoTime(text);
  return time === undefined ? undefined : Number(time) / 1e6;
}
