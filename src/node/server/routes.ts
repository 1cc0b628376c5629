// Which requests there are (`pkg/kubelet/server/server.go`), and which right each needs (`pkg/kubelet/server/auth.go`).

/** A container of a pod, as a path names it. */
export interface ContainerTarget {
  readonly namespace: string;
  readonly podName: string;
  /** Undefined where the path has none. */
  readonly podUID: string | undefined;
  readonly container: string;
}

export type PodTarget = Omit<ContainerTarget, 'container'>;

/** `cadvisor`: what containers and the machine take. */
export type MetricSet = 'all' | 'resource' | 'cadvisor' | 'probes';

/** What is asked for. */
export type Route =
  | { readonly kind: 'health'; readonly check: string | undefined }
  | { readonly kind: 'pods' | 'running-pods' | 'stats-summary' | 'configz' }
  | { readonly kind: 'metrics'; readonly set: MetricSet }
  | { readonly kind: 'container-logs'; readonly target: ContainerTarget }
  | { readonly kind: 'exec' | 'attach'; readonly target: ContainerTarget }
  | { readonly kind: 'run'; readonly target: ContainerTarget }
  | { readonly kind: 'port-forward'; readonly target: PodTarget }
  | { readonly kind: 'disabled' | 'not-implemented'; readonly text: string };

/** A request to switch to another protocol. */
export type StreamRoute = Extract<Route, { kind: 'exec' | 'attach' | 'port-forward' }>;

/** A request, and who may make it. */
export interface RoutedRequest {
  /** Subresources of the node: whoever may use one of them may make the request. */
  readonly subresources: readonly string[];
  /** Undefined: there is no such page. */
  readonly route: Route | undefined;
  /** The methods that it answers. */
  readonly methods: readonly string[];
}

const reading: readonly string[] = ['GET', 'HEAD'];
const streaming: readonly string[] = ['GET', 'POST'];
/** Where debugging handlers are off these answer nobody, whatever the method is. */
const debugging: readonly string[] = ['run', 'exec', 'attach', 'portForward', 'containerLogs', 'runningpods', 'debug', 'logs'];
const noCheckpoints = 'checkpoints of containers are not made by this node agent';
const anyMethod: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** The right is decided by the first part of the path alone, also where there is no such page. */
export function routeOf(segments: readonly string[], hasDebugging: boolean): RoutedRequest {
  const routed = routeOfAll(segments);
  const [first = ''] = segments;
  if (hasDebugging) return routed;
  if (first === 'configz') return { ...routed, route: undefined };
  if (!debugging.includes(first)) return routed;
  return { ...routed, route: { kind: 'disabled', text: 'Debug endpoints are disabled.' }, methods: anyMethod };
}

function routeOfAll(segments: readonly string[]): RoutedRequest {
  const [first = '', ...rest] = segments.at(-1) === '' ? segments.slice(0, -1) : segments;
  switch (first) {
    case 'healthz':
      return allowedBy(['healthz', 'proxy'], rest.length < 2 ? { kind: 'health', check: rest[0] } : undefined, reading);
    case 'pods':
      return allowedBy(['pods', 'proxy'], alone(rest, { kind: 'pods' }), reading);
    case 'runningpods':
      return allowedBy(['pods', 'proxy'], alone(rest, { kind: 'running-pods' }), reading);
    case 'configz':
      return allowedBy(['configz', 'proxy'], alone(rest, { kind: 'configz' }), reading);
    case 'stats':
      return allowedBy(['stats'], rest.join('/') === 'summary' ? { kind: 'stats-summary' } : undefined, ['GET', 'POST']);
    case 'metrics':
      return allowedBy(['metrics'], metricsRoute(rest), reading);
    case 'logs':
      return allowedBy(['log'], { kind: 'disabled', text: 'logs endpoint is disabled.' }, reading);
    case 'checkpoint':
      return allowedBy([first], { kind: 'not-implemented', text: noCheckpoints }, ['POST']);
    case 'statusz':
      return allowedBy([first], undefined, reading);
    case 'flagz':
      return allowedBy(['configz'], undefined, reading);
    case 'debug':
      return allowedBy(['proxy'], { kind: 'disabled', text: 'profiling endpoint is disabled.' }, reading);
    default:
      return allowedBy(['proxy'], podRoute(first, rest), methodsOf(first));
  }
}

function allowedBy(subresources: readonly string[], route: Route | undefined, methods: readonly string[]): RoutedRequest {
  return { subresources, route, methods };
}

function alone(rest: readonly string[], route: Route): Route | undefined {
  return rest.length === 0 ? route : undefined;
}

function metricsRoute(rest: readonly string[]): Route | undefined {
  if (rest.length === 0) return { kind: 'metrics', set: 'all' };
  const [set = ''] = rest;
  // slis would have nothing to show
  const isSet = rest.length === 1 && (set === 'resource' || set === 'cadvisor' || set === 'probes');
  return isSet ? { kind: 'metrics', set } : undefined;
}

function methodsOf(first: string): readonly string[] {
  if (first === 'run') return ['POST'];
  return first === 'containerLogs' ? ['GET'] : streaming;
}

function podRoute(first: string, rest: readonly string[]): Route | undefined {
  const [namespace = '', podName = '', ...more] = rest;
  if (namespace === '' || podName === '') return undefined;
  if (first === 'portForward') {
    const [podUID] = more;
    return more.length > 1 ? undefined : { kind: 'port-forward', target: { namespace, podName, podUID } };
  }
  const container = more.at(-1);
  if (container === undefined || more.length > 2) return undefined;
  const target = { namespace, podName, podUID: more.length === 2 ? more[0] : undefined, container };
  if (first === 'containerLogs') return more.length === 1 ? { kind: 'container-logs', target } : undefined;
  if (first === 'exec' || first === 'attach' || first === 'run') return { kind: first, target };
  return undefined;
}

/** What a request asks for. */
export interface RequestTarget {
  /** The parts of the path between slashes, decoded: `['pods', '']` for `/pods/`. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

const forbidden = /[/\\\p{Cc}]/u;

/**
 * Undefined for a target that could be read in more than one way: what is allowed and what is done must see the same path. That is
 * one that is no path, has an encoded slash, a control character, `.` or `..`, an empty part that is not the last, or broken encoding.
 */
export function parseTarget(target: string | undefined): RequestTarget | undefined {
  if (target === undefined || !target.startsWith('/')) return undefined;
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const segments: string[] = [];
  for (const part of path.slice(1).split('/')) {
    const decoded = decode(part);
    if (decoded === undefined || forbidden.test(decoded) || decoded === '.' || decoded === '..') return undefined;
    segments.push(decoded);
  }
  if (segments.slice(0, -1).includes('')) return undefined;
  return { segments, query: new URLSearchParams(mark < 0 ? '' : target.slice(mark + 1)) };
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
