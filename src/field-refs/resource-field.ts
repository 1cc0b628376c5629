// Behaviour of pkg/api/v1/resource/helpers.go and pkg/kubelet/kubelet_resources.go, v1.36.3.
import { thousandths, wholeUnits } from '../wire/quantity-number.ts';
import type { Pod } from '../wire/types.ts';
import { FieldRefError } from './field-ref-error.ts';

type Container = NonNullable<Pod['spec']>['containers'][number];
type Quantities = Readonly<Record<string, string>>;

/** Which resource of which container is meant. */
export interface ResourceSelector {
  /** Absent or empty: the container that asks. */
  readonly containerName?: string | undefined;
  /** Such as `limits.cpu` or `requests.hugepages-2Mi`. */
  readonly resource: string;
  /** The unit of the answer, such as `1Mi`. Absent or 0: one processor, or one byte. */
  readonly divisor?: string | undefined;
}

const withDefaults: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];
const podLevel: readonly string[] = ['cpu', 'memory'];

/**
 * A resource of a container, as an environment variable shows it: whole units of the divisor, rounded up. A limit that a regular
 * container has not is the pod's, or else what the node can allocate. Throws {@link FieldRefError}.
 *
 * @param own - The container whose environment is made.
 * @param allocatable - What the node has for pods.
 */
export function environmentResourceValue(pod: Pod, own: Container, selector: ResourceSelector, allocatable: Quantities): string {
  const { containerName } = selector;
  const defaults = { ...allocatable };
  for (const name of podLevel) {
    const limit = pod.spec?.resources?.limits?.[name];
    if (limit !== undefined && thousandths(limit) !== 0 && Object.hasOwn(defaults, name)) defaults[name] = String(limit);
  }
  if (!containerName) return resourceValue(own, selector, defaults);
  const regular = pod.spec?.containers?.find(({ name }) => name === containerName);
  return regular === undefined
    ? resourceValue(containerNamed(pod, containerName), selector, {})
    : resourceValue(regular, selector, defaults);
}

/**
 * A resource of a container, as a downward API volume shows it. A limit that the container has not is what the node can
 * allocate. Throws {@link FieldRefError}.
 */
export function volumeResourceValue(pod: Pod, selector: ResourceSelector, allocatable: Quantities): string {
  return resourceValue(containerNamed(pod, selector.containerName ?? ''), selector, allocatable);
}

function containerNamed(pod: Pod, containerName: string): Container {
  const all = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  const found = all.find(({ name }) => name === containerName);
  if (found === undefined) throw new FieldRefError(`container ${containerName} not found`);
  return found;
}

function resourceValue({ resources }: Container, selector: ResourceSelector, defaults: Quantities): string {
  const { resource, divisor } = selector;
  const [kind, name] = [resource.split('.', 1)[0], resource.slice(resource.indexOf('.') + 1)];
  if ((kind !== 'limits' && kind !== 'requests') || !(withDefaults.includes(name) || name.startsWith('hugepages-'))) {
    throw new FieldRefError(`unsupported container resource : ${resource}`);
  }
  const given = resources?.[kind]?.[name];
  const isDefault = kind === 'limits' && withDefaults.includes(name) && thousandths(given) === 0;
  const amount = isDefault ? (Object.hasOwn(defaults, name) ? defaults[name] : given) : given;
  const inUnits = name === 'cpu' ? thousandths : wholeUnits;
  return String(Math.ceil(inUnits(amount) / inUnits(thousandths(divisor) === 0 ? '1' : divisor)));
}
