// What the apiserver fills in and refuses (pkg/apis/core/v1/defaults.go, pkg/registry/core/pod/strategy.go, v1.36.3), as far as placement
// depends on it: a scheduler in memory has no server before it.
import type { WireNode, WirePod } from '../../api/json/types.ts';
import { invalidArgument } from '../../base/errors.ts';
import { requireObject, requireObjects, requireText } from '../../base/options.ts';
import type { ApiObject, ApiResource } from '../../client/resources/api-resource.ts';
import type { GivenAffinityTerm } from './pod-info.ts';
import { type GivenQuantities, inThousandths } from './resource.ts';

type Spec = NonNullable<WirePod['spec']>;
type Container = Spec['containers'][number];
type PodAffinity = NonNullable<NonNullable<Spec['affinity']>['podAffinity']>;
type Labels = { readonly [key: string]: string };

/**
 * The pod as a server would store it, copied and frozen: the scheduler's name, requests of what has only a limit, ports of the host's
 * network, and what `matchLabelKeys` add to selectors. Throws ERR_INVALID_ARGUMENT for a pod without a name or a uid, and for an amount
 * below 0 or that is no quantity.
 */
export function givenPod(pod: WirePod): WirePod {
  requireObject('pod', pod);
  requireObject('pod.metadata', pod.metadata);
  const { metadata, spec } = pod;
  requireText('pod.metadata.name', metadata.name);
  requireText('pod.metadata.uid', metadata.uid);
  if (spec === undefined || spec === null) return ownCopy(pod);
  requireObject('pod.spec', spec);
  return ownCopy({ ...pod, spec: storedSpec(spec, metadata.labels ?? {}) });
}

/** The node, copied and frozen. Throws ERR_INVALID_ARGUMENT for one without a name. */
export function givenNode(node: WireNode): WireNode {
  requireObject('node', node);
  requireObject('node.metadata', node.metadata);
  requireText('node.metadata.name', node.metadata.name);
  return ownCopy(node);
}

/** The object, copied and frozen. Throws ERR_INVALID_ARGUMENT for one without a name, or without the namespace that its resource has. */
export function givenObject({ kind, namespaced }: ApiResource, object: ApiObject): ApiObject {
  requireObject(kind, object);
  requireObject(`${kind}.metadata`, object.metadata);
  requireText(`${kind}.metadata.name`, object.metadata.name);
  if (namespaced) requireText(`${kind}.metadata.namespace`, object.metadata.namespace);
  return ownCopy(object);
}

function storedSpec(spec: Spec, labels: Labels): Spec {
  const { containers, initContainers, affinity } = spec;
  requireObjects('pod.spec.containers', containers);
  requireObjects('pod.spec.initContainers', initContainers);
  requireObjects('pod.spec.volumes', spec.volumes);
  requireAmounts('pod.spec.overhead', spec.overhead);
  requireAmounts('pod.spec.resources.requests', spec.resources?.requests);
  const hasHostPorts = spec.hostNetwork === true;
  const { podAffinity, podAntiAffinity } = affinity ?? {};
  return {
    ...spec,
    schedulerName: spec.schedulerName || 'default-scheduler',
    containers: (containers ?? []).map((one, index) => storedContainer(`pod.spec.containers[${index}]`, one, hasHostPorts)),
    ...(initContainers && {
      initContainers: initContainers.map((one, index) => storedContainer(`pod.spec.initContainers[${index}]`, one, hasHostPorts)),
    }),
    ...(affinity && {
      affinity: {
        ...affinity,
        ...(podAffinity && { podAffinity: withLabelKeys(podAffinity, labels) }),
        ...(podAntiAffinity && { podAntiAffinity: withLabelKeys(podAntiAffinity, labels) }),
      },
    }),
  };
}

function storedContainer(path: string, container: Container, hasHostPorts: boolean): Container {
  const { resources, ports } = container;
  requireAmounts(`${path}.resources.limits`, resources?.limits);
  requireAmounts(`${path}.resources.requests`, resources?.requests);
  requireObjects(`${path}.ports`, ports);
  return {
    ...container,
    ...(resources?.limits && { resources: { ...resources, requests: { ...resources.limits, ...resources.requests } } }),
    ...(hasHostPorts && ports && { ports: ports.map((port) => ({ ...port, hostPort: port.hostPort || port.containerPort })) }),
  };
}

function requireAmounts(path: string, amounts: GivenQuantities): void {
  if (amounts === undefined || amounts === null) return;
  requireObject(path, amounts);
  for (const [name, quantity] of Object.entries(amounts)) {
    requireText(`${path}.${name}`, quantity);
    if (inThousandths(quantity) < 0) throw invalidArgument(`${path}.${name}`, 'a quantity that is not below 0', quantity);
  }
}

function withLabelKeys(affinity: PodAffinity, labels: Labels): PodAffinity {
  const { requiredDuringSchedulingIgnoredDuringExecution: required, preferredDuringSchedulingIgnoredDuringExecution: preferred } =
    affinity;
  return {
    ...affinity,
    ...(required && {
      requiredDuringSchedulingIgnoredDuringExecution: required.map((term) => withOwnValues(term, labels)),
    }),
    ...(preferred && {
      preferredDuringSchedulingIgnoredDuringExecution: preferred.map((one) => ({
        ...one,
        podAffinityTerm: withOwnValues(one.podAffinityTerm, labels),
      })),
    }),
  };
}

/** The selector also demands or rules out the pod's own values of the labels that the term names. */
function withOwnValues(term: GivenAffinityTerm, labels: Labels): GivenAffinityTerm {
  const { labelSelector, matchLabelKeys, mismatchLabelKeys } = term ?? {};
  if (!labelSelector || !(matchLabelKeys?.length || mismatchLabelKeys?.length)) return term;
  const { matchExpressions } = labelSelector;
  const known = new Set(matchExpressions?.map(({ key, operator, values }) => JSON.stringify([key, operator, values])));
  const wanted = (keys: readonly string[] | undefined, operator: string) =>
    (keys ?? [])
      .filter((key) => Object.hasOwn(labels, key))
      .map((key) => ({ key, operator, values: [labels[key] as string] }))
      .filter(({ key, values }) => !known.has(JSON.stringify([key, operator, values])));
  const added = [...wanted(matchLabelKeys, 'In'), ...wanted(mismatchLabelKeys, 'NotIn')];
  return { ...term, labelSelector: { ...labelSelector, matchExpressions: [...(matchExpressions ?? []), ...added] } };
}

/**
 * A deep copy that nobody can change. What a pod or a node was before is known only as long as the object that was given is not the
 * one that is given again. A `Date`, as client-node has it, becomes its time in text, and a member that is null is left out, as a server does.
 */
function ownCopy<T>(value: T): T {
  return copyOf(value) as T;
}

function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(copyOf));
  if (value instanceof Date) return value.toISOString();
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.freeze(Object.fromEntries(members.map(([key, member]) => [key, copyOf(member)])));
}
