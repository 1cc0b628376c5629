// Behaviour of pkg/apis/core/validation ValidateNode and ValidateNodeUpdate, v1.36.3: taints, resources and addresses.

import type { JsonObject } from '../../api/json/types.ts';
import { canonicalQuantity } from '../../api/quantity/quantity.ts';
import { isCountedResource, isLabelValue, labelValueRule } from '../../base/names.ts';
import { qualifiedNameProblems } from '../objects/api-names.ts';
import { duplicateValue, invalidValue, requiredValue, type StatusCause, unsupportedValue } from '../objects/api-status.ts';
import { objectAt, objectsAt, ShapeError, textAt } from '../objects/json-fields.ts';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function nodeCauses(node: JsonObject): StatusCause[] {
  return [...taintCauses(objectsAt(objectAt(node, 'spec'), 'taints')), ...resourceCauses(objectAt(node, 'status'))];
}

/** The rules that a status breaks which is written by itself. */
export function nodeStatusCauses(node: JsonObject): StatusCause[] {
  const status = objectAt(node, 'status');
  return [...resourceCauses(status), ...addressCauses(objectsAt(status, 'addresses'))];
}

function taintCauses(taints: readonly JsonObject[]): StatusCause[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const field = `metadata.taints[${index}]`;
    const [key, value, effect] = [textAt(taint, 'key'), textAt(taint, 'value'), textAt(taint, 'effect')];
    const causes = qualifiedNameProblems(key).map((problem) => invalidValue(`${field}.key`, key, problem));
    if (!isLabelValue(value)) causes.push(invalidValue(`${field}.value`, value, labelValueRule));
    if (effect === '') causes.push(requiredValue(`${field}.effect`));
    else if (!effects.includes(effect)) causes.push(unsupportedValue(`${field}.effect`, effect, effects));
    const pair = `${key}:${effect}`;
    if (seen.has(pair)) causes.push(duplicateValue(field, taint, 'taints must be unique by key and effect pair'));
    seen.add(pair);
    return causes;
  });
}

function resourceCauses(status: JsonObject): StatusCause[] {
  return ['capacity', 'allocatable'].flatMap((list) =>
    Object.entries(objectAt(status, list)).flatMap(([name, value]) => {
      const field = `status.${list}.${name}`;
      const quantity = quantityOf(value);
      const causes: StatusCause[] = [];
      if (quantity.startsWith('-')) causes.push(invalidValue(field, quantity, 'must be greater than or equal to 0'));
      if (isCountedResource(name) && /[mun]$/.test(quantity)) causes.push(invalidValue(field, quantity, 'must be an integer'));
      return causes;
    }),
  );
}

/** A server cannot even read a quantity that is none. */
function quantityOf(value: unknown): string {
  try {
    return canonicalQuantity(String(value));
  } catch {
    throw new ShapeError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
}

function addressCauses(addresses: readonly JsonObject[]): StatusCause[] {
  const seen = new Set<string>();
  return addresses.flatMap((address, index) => {
    const key = `${textAt(address, 'type')} ${textAt(address, 'address')}`;
    const causes = seen.has(key) ? [duplicateValue(`status.addresses[${index}]`, address)] : [];
    seen.add(key);
    return causes;
  });
}
