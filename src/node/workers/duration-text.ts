/** A duration as Go writes it, such as `10s`, `2m40s`, `500ms`: for messages that equal upstream's. Not negative. */
export function durationText(ms: number): string {
  if (ms === 0) return '0s';
  if (ms < 1000) return `${ms}ms`;
  const seconds = ms / 1000;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = `${Number((seconds % 60).toFixed(3))}s`;
  if (hours > 0) return `${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${minutes}m${rest}` : rest;
}
