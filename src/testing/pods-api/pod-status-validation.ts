import { isIP, isIPv4 } from 'node:net';
import type { JsonObject } from '../../api/json/types.ts';
import { isSubdomain, qualifiedNameProblems, subdomainRule } from '../objects/api-names.ts';
import { forbiddenChange, invalidValue, type StatusCause } from '../objects/api-status.ts';
import { numberAt, objectAt, objectsAt, textAt } from '../objects/json-fields.ts';

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
