// Behaviour of pkg/apis/core/validation (downward API), pkg/apis/core/pods and pkg/fieldpath, v1.36.3.
import { checkOneOf, checkPresent, checkQualifiedName } from './text-rules.ts';

export const volumeFieldPaths = [
  'metadata.name',
  'metadata.namespace',
  'metadata.labels',
  'metadata.annotations',
  'metadata.uid',
];
export const envFieldPaths = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
const amounts = ['cpu', 'memory', 'ephemeral-storage'];
const resourcePaths = ['limits', 'requests'].flatMap((list) => amounts.map((amount) => `${list}.${amount}`));
const cpuDivisors = ['1m', '1'];
const byteDivisors = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** A field of the pod, such as `metadata.name`, or one label or annotation: `metadata.labels['KEY']`. */
export function checkFieldRef(
  path: string,
  { apiVersion = '', fieldPath }: { readonly apiVersion?: string; readonly fieldPath: string },
  allowed: readonly string[],
): void {
  checkOneOf(`${path}.apiVersion`, apiVersion, ['v1']);
  const opening = fieldPath.indexOf("['", 1);
  if (opening < 0 || !fieldPath.endsWith("']") || fieldPath.length < opening + "['']".length) {
    checkOneOf(`${path}.fieldPath`, fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath, allowed);
  } else {
    const [map, key] = [fieldPath.slice(0, opening), fieldPath.slice(opening + 2, -2)];
    checkOneOf(`${path}.fieldPath`, map, ['metadata.labels', 'metadata.annotations']);
    checkQualifiedName(`${path}.fieldPath`, map === 'metadata.annotations' ? key.toLowerCase() : key);
  }
}

/** A limit or request of a container, in units of the divisor. */
export function checkResourceFieldRef(
  path: string,
  ref: { readonly containerName?: string; readonly resource: string; readonly divisor?: string },
  inVolume: boolean,
): void {
  const { resource, divisor = '0' } = ref;
  if (inVolume) checkPresent(`${path}.containerName`, ref.containerName);
  const isHugePages = /^(?:limits|requests)\.hugepages-/.test(resource);
  if (!isHugePages) checkOneOf(`${path}.resource`, resource, resourcePaths);
  const allowed = resource.endsWith('.cpu') && !isHugePages ? cpuDivisors : byteDivisors;
  if (divisor !== '0') checkOneOf(`${path}.divisor`, divisor, allowed);
}
