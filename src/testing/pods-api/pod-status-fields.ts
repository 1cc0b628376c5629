import { isIP, isIPv4 } from 'node:net';
import { isJsonObject } from '../../api/json/json.ts';
import { formatTime } from '../../api/json/time.ts';
import type { Json, JsonObject } from '../../api/json/types.ts';
import { type Field, metadataTypes, parseFields, statusTypes } from '../../api/manifest/pod-types.ts';
import { isSubdomain, qualifiedNameProblems, subdomainRule } from '../objects/api-names.ts';
import { forbiddenChange, invalidValue, type StatusCause } from '../objects/api-status.ts';
import { numberAt, objectAt, objectsAt, ShapeError, textAt } from '../objects/selectors.ts';

// The form in which the apiserver returns each field of a v1 PodStatus: which it drops when empty, which it always writes, which
// times it cuts to whole seconds. A field that no type has is unknown, and dropped.

/** Brings a member (undefined: absent) into the server's form; undefined leaves it out. */
type Shape = (value: Json | undefined, path: string) => Json | undefined;

const absent = (value: Json | undefined): value is undefined | null => value === undefined || value === null;

function mismatch(path: string, wanted: string): never {
  throw new ShapeError(`json: cannot unmarshal into Go struct field ${path} of type ${wanted}`);
}

const types: Readonly<Record<string, readonly string[]>> = { ...metadataTypes, ...statusTypes };
const zeros: Readonly<Record<string, Json>> = { string: '', bool: false, int32: 0, int64: 0 };

function shapeOf(type: string, presence: Field['presence']): Shape {
  if (type.startsWith('[]')) return list(shapeOf(type.slice(2), 'required'));
  if (type.startsWith('{}')) return quantities;
  if (type.startsWith('#')) return struct(type.slice(1), presence);
  return type === 'time' ? time(presence) : scalar(zeros[type] ?? '', presence);
}

function scalar(zero: Json, presence: Field['presence']): Shape {
  return (value, path) => {
    if (absent(value)) return presence === 'required' ? zero : undefined;
    if (typeof value !== typeof zero) mismatch(path, typeof zero);
    return presence === 'optional' && value === zero ? undefined : value;
  };
}

function time(presence: Field['presence']): Shape {
  return (value, path) => {
    if (absent(value)) return presence === 'required' ? null : undefined;
    const ms = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
    if (Number.isNaN(ms))
      throw new ShapeError(`parsing time ${JSON.stringify(value)} of ${path} as "2006-01-02T15:04:05Z07:00": cannot parse`);
    return formatTime(ms);
  };
}

/** One that is held by value is written even when empty. */
function struct(name: string, presence: Field['presence']): Shape {
  const fields = parseFields(types[name] ?? []).map((field) => ({ key: field.name, shape: shapeOf(field.type, field.presence) }));
  return (value, path) => {
    if (absent(value) && presence !== 'required') return undefined;
    const given = value ?? {};
    if (!isJsonObject(given)) return mismatch(path, 'object');
    const result: JsonObject = {};
    for (const { key, shape } of fields) {
      const member = shape(given[key], `${path}.${key}`);
      if (member !== undefined) result[key] = member;
    }
    return result;
  };
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

const podStatus = shapeOf('#PodStatus', 'required');

/** The status as the apiserver stores and answers it. Throws a `ShapeError` for a member of the wrong type. */
export function shapePodStatus(status: JsonObject): JsonObject {
  return podStatus(status, 'PodStatus.status') as JsonObject;
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
