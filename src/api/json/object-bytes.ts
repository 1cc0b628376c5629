/** What a member and a value cost beside their text: measured of objects as V8 keeps them. */
export const memberBytes = 48;
const wide = /[^\0-\xff]/;

/** About how many bytes of memory a JSON value takes: text by its length, and a share for each member. */
export function objectBytes(value: unknown): number {
  if (typeof value === 'string') return textBytes(value);
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, inner) => sum + memberBytes + objectBytes(inner), 0);
  let bytes = 0;
  for (const [key, inner] of Object.entries(value)) bytes += memberBytes + textBytes(key) + objectBytes(inner);
  return bytes;
}

function textBytes(text: string): number {
  return text.length * (wide.test(text) ? 2 : 1);
}
