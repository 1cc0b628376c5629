// The apiserver's rules for the keys and values of labels, taints and annotations.
import { isDnsSubdomain } from './dns-names.ts';

const keyName = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const value = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

/** A name, a domain and the slash between them. */
const longestKey = 63 + 1 + 253;

/** What {@link isLabelKey} asks, as an error says it. */
export const labelKeyRule =
  'a name of at most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends, and in front of it perhaps a domain and "/"';

/** What {@link isLabelValue} asks, as an error says it. */
export const labelValueRule =
  'text of at most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends, or empty text';

/** True for a key of a label, a taint or an annotation: `zone`, `example.com/zone`. */
export function isLabelKey(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > longestKey) return false;
  const [name = '', prefix, ...more] = text.split('/').reverse();
  if (more.length > 0 || name.length > 63 || !keyName.test(name)) return false;
  return prefix === undefined || isDnsSubdomain(prefix);
}

/** True for a value of a label or of a taint. */
export function isLabelValue(text: unknown): text is string {
  return typeof text === 'string' && text.length <= 63 && value.test(text);
}
