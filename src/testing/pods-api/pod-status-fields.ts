import { isIP, isIPv4 } from 'node:net';
import { isJsonObject } from '../../api/json/json.ts';
import { formatTime } from '../../api/json/time.ts';
import type { Json, JsonObject } from '../../api/json/types.ts';
import { isSubdomain, qualifiedNameProblems, subdomainRule } from '../objects/api-names.ts';
import { forbiddenChange, invalidValue, type StatusCause } from '../objects/api-status.ts';
import { numberAt, objectAt, objectsAt, ShapeError, textAt } from '../objects/selectors.ts';

// The fields of a v1 PodStatus and the form in which the apiserver returns each: which it drops when empty, which it
// always writes, which times it cuts to whole seconds. A field not named here is unknown, and dropped.

/** Brings a member (undefined: absent) into the server's form; undefined leaves it out. */
type Shape = (value: Json | undefined, path: string) => Json | undefined;
type Fields = { readonly [key: string]: Shape };

const absent = (value: Json | undefined): value is undefined | null => value === undefined || value === null;

function mismatch(path: string, wanted: string): never {
  throw new ShapeError(`json: cannot unmarshal into Go struct field ${path} of type ${wanted}`);
}

function scalar(type: 'string' | 'number' | 'boolean', whenAbsent?: Json): Shape {
  return (value, path) => {
    if (absent(value)) return whenAbsent;
    if (typeof value !== type) mismatch(path, type);
    return whenAbsent === undefined && (value === '' || value === 0) ? undefined : value;
  };
}

/** Left out when empty or zero. */
const text = scalar('string');
const integer = scalar('number');
const flag: Shape = (value, path) => scalar('boolean')(value, path) || undefined;
/** Always written. */
const textAlways = scalar('string', '');
const integerAlways = scalar('number', 0);
const flagAlways = scalar('boolean', false);
/** A pointer in Go: left out only when absent. */
const textPointer: Shape = (value, path) => (value === '' ? value : text(value, path));
const flagPointer = scalar('boolean');

function wholeSeconds(value: Json, path: string): string {
  const ms = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms))
    throw new ShapeError(`parsing time ${JSON.stringify(value)} of ${path} as "2006-01-02T15:04:05Z07:00": cannot parse`);
  return formatTime(ms);
}

const timePointer: Shape = (value, path) => (absent(value) ? undefined : wholeSeconds(value, path));
const timeOrNull: Shape = (value, path) => (absent(value) ? null : wholeSeconds(value, path));

function members(fields: Fields, value: JsonObject, path: string): JsonObject {
  const result: JsonObject = {};
  for (const [key, shape] of Object.entries(fields)) {
    const member = shape(value[key], `${path}.${key}`);
    if (member !== undefined) result[key] = member;
  }
  return result;
}

/** A struct behind a pointer. */
function struct(fields: Fields): Shape {
  return (value, path) => {
    if (absent(value)) return undefined;
    return isJsonObject(value) ? members(fields, value, path) : mismatch(path, 'object');
  };
}

/** A struct held by value: written even when empty. */
function structAlways(fields: Fields): Shape {
  const shape = struct(fields);
  return (value, path) => shape(value ?? {}, path);
}

function list(item: Shape): Shape {
  return (value, path) => {
    if (absent(value)) return undefined;
    if (!Array.isArray(value)) return mismatch(path, 'array');
    return value.length === 0 ? undefined : value.map((each, index) => item(each ?? {}, `${path}[${index}]`) ?? null);
  };
}

/** Names to quantities, kept as they are. */
const quantities: Shape = (value, path) => {
  if (absent(value)) return undefined;
  if (!isJsonObject(value)) return mismatch(path, 'map');
  return Object.keys(value).length === 0 ? undefined : value;
};

const requirements = struct({
  limits: quantities,
  requests: quantities,
  claims: list(struct({ name: textAlways, request: text })),
});

const containerState = structAlways({
  waiting: struct({ reason: text, message: text }),
  running: struct({ startedAt: timeOrNull }),
  terminated: struct({
    exitCode: integerAlways,
    signal: integer,
    reason: text,
    message: text,
    startedAt: timeOrNull,
    finishedAt: timeOrNull,
    containerID: text,
  }),
});

const containerStatuses = list(
  struct({
    name: textAlways,
    state: containerState,
    lastState: containerState,
    ready: flagAlways,
    restartCount: integerAlways,
    image: textAlways,
    imageID: textAlways,
    containerID: text,
    started: flagPointer,
    allocatedResources: quantities,
    resources: requirements,
    volumeMounts: list(
      struct({
        name: textAlways,
        mountPath: textAlways,
        readOnly: flag,
        recursiveReadOnly: textPointer,
        volumeStatus: struct({ image: struct({ imageRef: text }) }),
      }),
    ),
    user: struct({ linux: struct({ uid: integerAlways, gid: integerAlways, supplementalGroups: list(integerAlways) }) }),
    allocatedResourcesStatus: list(
      struct({
        name: textAlways,
        resources: list(struct({ resourceID: textAlways, health: text, message: textPointer })),
      }),
    ),
    stopSignal: textPointer,
  }),
);

const addresses = list(struct({ ip: textAlways }));

const podStatusFields: Fields = {
  observedGeneration: integer,
  phase: text,
  conditions: list(
    struct({
      type: textAlways,
      observedGeneration: integer,
      status: textAlways,
      lastProbeTime: timeOrNull,
      lastTransitionTime: timeOrNull,
      reason: text,
      message: text,
    }),
  ),
  message: text,
  reason: text,
  nominatedNodeName: text,
  hostIP: text,
  hostIPs: addresses,
  podIP: text,
  podIPs: addresses,
  startTime: timePointer,
  initContainerStatuses: containerStatuses,
  containerStatuses,
  qosClass: text,
  ephemeralContainerStatuses: containerStatuses,
  resize: text,
  resourceClaimStatuses: list(struct({ name: textAlways, resourceClaimName: textPointer })),
  extendedResourceClaimStatus: struct({
    requestMappings: list(struct({ containerName: textAlways, resourceName: textAlways, requestName: textAlways })),
    resourceClaimName: textAlways,
  }),
  allocatedResources: quantities,
  resources: requirements,
  nodeAllocatableResourceClaimStatuses: list(
    struct({ resourceClaimName: textAlways, containers: list(textAlways), resources: quantities }),
  ),
};

/** The names of the members of a PodStatus. */
export const podStatusFieldNames: readonly string[] = Object.keys(podStatusFields);

/** The status as the apiserver stores and answers it. Throws a `ShapeError` for a member of the wrong type. */
export function shapePodStatus(status: JsonObject): JsonObject {
  return members(podStatusFields, status, 'PodStatus.status');
}

// A kube-apiserver's rules for a write of the status subresource. It has none for phases: it accepts Failed -> Running.

function conditionErrors(status: JsonObject): StatusCause[] {
  return objectsAt(status, 'conditions').flatMap((condition, index) => {
    const path = `status.conditions[${index}]`;
    const causes: StatusCause[] = [];
    if ((numberAt(condition, 'observedGeneration') ?? 0) < 0) {
      causes.push(invalidValue(`${path}.observedGeneration`, condition.observedGeneration, 'must be a non-negative integer'));
    }
    const type = textAt(condition, 'type');
    causes.push(...qualifiedNameProblems(type).map((why) => invalidValue(`${path}.Type`, type, why)));
    return causes;
  });
}

/** Each address must be an IP, unless the old status had it. At most one address of each family is allowed. */
function addressErrors(status: JsonObject, old: JsonObject, key: 'podIPs' | 'hostIPs'): StatusCause[] {
  const addresses = objectsAt(status, key).map((address) => textAt(address, 'ip'));
  const known = new Set(objectsAt(old, key).map((address) => textAt(address, 'ip')));
  const causes: StatusCause[] = [];
  addresses.forEach((ip, index) => {
    if (isIP(ip) === 0 && !known.has(ip)) {
      causes.push(invalidValue(`status.${key}[${index}]`, ip, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'));
    }
  });
  const families = new Set(addresses.map((ip) => isIPv4(ip)));
  if (addresses.length > 1 && (families.size !== 2 || addresses.length > 2)) {
    const shown = addresses.map((ip) => ({ IP: ip }));
    causes.push(invalidValue(`status.${key}`, shown, 'may specify no more than one IP for each IP family'));
  }
  return causes;
}

function hostIPErrors(status: JsonObject): StatusCause[] {
  const first = objectsAt(status, 'hostIPs')[0];
  if (first === undefined || textAt(first, 'ip') === textAt(status, 'hostIP')) return [];
  return [invalidValue('status.hostIPs[0].ip', textAt(first, 'ip'), 'must be equal to `hostIP`')];
}

function matchesRule(rule: JsonObject, exitCode: number): boolean {
  const exitCodes = objectAt(rule, 'exitCodes');
  const values = exitCodes.values;
  const isListed = Array.isArray(values) && values.includes(exitCode);
  if (exitCodes.operator === 'In') return isListed;
  return exitCodes.operator === 'NotIn' && !isListed;
}

function mayRestart(container: JsonObject, podPolicy: string, exitCode: number): boolean {
  const own = textAt(container, 'restartPolicy');
  if (own !== '' && objectsAt(container, 'restartPolicyRules').some((rule) => matchesRule(rule, exitCode))) return true;
  const policy = own === '' ? podPolicy : own;
  return policy === 'Never' ? false : policy !== 'OnFailure' || exitCode !== 0;
}

/** A terminated container stays terminated unless its restart policy lets it run again. */
function transitionErrors(status: JsonObject, old: JsonObject, spec: JsonObject): StatusCause[] {
  const containers = [...objectsAt(spec, 'initContainers'), ...objectsAt(spec, 'containers')];
  const restartsAll = containers.some((container) =>
    objectsAt(container, 'restartPolicyRules').some((rule) => rule.action === 'RestartAllContainers'),
  );
  const lists = [
    ['containerStatuses', 'containers'],
    ['initContainerStatuses', 'initContainers'],
    ['ephemeralContainerStatuses', ''],
  ] as const;
  return lists.flatMap(([key, specKey]) => {
    if (specKey !== '' && restartsAll) return [];
    return objectsAt(old, key).flatMap((before, index) => {
      const terminated = objectAt(before, 'state').terminated;
      const after = objectsAt(status, key).find(({ name }) => name === before.name);
      if (terminated === undefined || after === undefined || objectAt(after, 'state').terminated !== undefined) return [];
      const container = objectsAt(spec, specKey).find(({ name }) => name === before.name);
      const exitCode = numberAt(objectAt(objectAt(before, 'state'), 'terminated'), 'exitCode') ?? 0;
      if (container !== undefined && mayRestart(container, textAt(spec, 'restartPolicy'), exitCode)) return [];
      return [forbiddenChange(`status.${key}[${index}].state`, 'may not be transitioned to non-terminated state')];
    });
  });
}

function nominationErrors(status: JsonObject, old: JsonObject, spec: JsonObject): StatusCause[] {
  const path = 'status.nominatedNodeName';
  const name = textAt(status, 'nominatedNodeName');
  if (name === '' || name === textAt(old, 'nominatedNodeName')) return [];
  const causes = isSubdomain(name) ? [] : [invalidValue(path, name, subdomainRule)];
  if (textAt(spec, 'nodeName') !== '')
    causes.push(forbiddenChange(path, 'may not be set on pods that are already bound to a node'));
  return causes;
}

/** The rules that a change from `old` to `status` breaks, for a pod of this spec; empty when it breaks none. */
export function validateStatusUpdate(status: JsonObject, old: JsonObject, spec: JsonObject): StatusCause[] {
  const causes = [...conditionErrors(status), ...nominationErrors(status, old, spec)];
  if ((numberAt(status, 'observedGeneration') ?? 0) < 0) {
    causes.push(invalidValue('status.observedGeneration', status.observedGeneration, 'must be a non-negative integer'));
  }
  if (textAt(status, 'qosClass') !== textAt(old, 'qosClass')) {
    causes.push(invalidValue('status.qosClass', textAt(status, 'qosClass'), 'field is immutable'));
  }
  causes.push(...transitionErrors(status, old, spec));
  causes.push(...addressErrors(status, old, 'podIPs'), ...hostIPErrors(status), ...addressErrors(status, old, 'hostIPs'));
  return causes;
}
