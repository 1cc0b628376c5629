// Behaviour of k8s.io/apimachinery/pkg/util/validation IsQualifiedName and IsValidLabelValue, v0.36.3.
const namePattern = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const subdomainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const longestName = 63;
const longestSubdomain = 253;

/** True for `NAME` and `SUBDOMAIN/NAME`, which label keys and extended resources are. */
export function isQualifiedName(text: unknown): boolean {
  if (typeof text !== 'string' || text.length > longestSubdomain + 1 + longestName) return false;
  const parts = text.split('/');
  const name = parts.pop() ?? '';
  if (name.length > longestName || !namePattern.test(name)) return false;
  const [subdomain] = parts;
  if (subdomain === undefined) return true;
  return parts.length === 1 && subdomain.length <= longestSubdomain && subdomainPattern.test(subdomain);
}

/** True for an empty text, too. */
export function isLabelValue(text: unknown): boolean {
  return typeof text === 'string' && (text === '' || (text.length <= longestName && namePattern.test(text)));
}
