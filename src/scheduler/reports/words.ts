/** A length of time for people: `less than a second`, `12 s`, `5 min`. */
export function durationInWords(ms: number): string {
  if (ms < 1000) return 'less than a second';
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** `has not been tried yet`, `was tried once`, `was tried 3 times`. */
export function triedInWords(count: number): string {
  if (count === 0) return 'has not been tried yet';
  return count === 1 ? 'was tried once' : `was tried ${count} times`;
}

/** `a`, `a or b`, `a, b or c`. */
export function namesInWords(names: readonly string[]): string {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}
