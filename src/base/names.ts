import { invalidOption } from './errors.ts';

const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** True for at most 63 lower case letters, digits and hyphens, with no hyphen at either end. */
export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && dnsLabel.test(text);
}

/** True for labels between dots, at most 253 characters in all. As for the apiserver, each label may be of any length. */
export function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && text.split('.').every((part) => dnsLabel.test(part));
}

// Behaviour of apimachinery's IsQualifiedName and IsValidLabelValue, v0.36.3: keys and values of labels, taints and annotations.

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

/** Checks the option `nodeName`. Throws ERR_INVALID_OPTION for anything that is no name of a node. */
export function nodeNameOption(value: unknown): string {
  if (typeof value === 'string' && isDnsSubdomain(value)) return value;
  throw invalidOption('nodeName', 'the name of a node', value);
}

// Behaviour of pkg/apis/core/helper IsIntegerResourceName and IsExtendedResourceName, v1.36.3.

const counted = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];

/** True for a resource of which there are only whole numbers: pods, devices. */
export function isCountedResource(name: string): boolean {
  return counted.includes(name) || isExtendedResource(name);
}

/** True for a resource that a claim may stand for: an extended one, or a class of devices by its own name. */
export function isDraResource(name: string): boolean {
  return isExtendedResource(name) || name.startsWith('deviceclass.resource.kubernetes.io/');
}

/** True for a resource that Kubernetes itself does not know: `example.com/device`. */
export function isExtendedResource(name: string): boolean {
  return name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');
}
