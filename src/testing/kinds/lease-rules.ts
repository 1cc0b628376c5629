import type { Json, JsonObject } from '../../api/json/types.ts';
import { invalidValue, type StatusCause } from '../objects/api-status.ts';
import { goTypeOf, numberAt, objectAt, ShapeError } from '../objects/json-fields.ts';
import { isEmptyValue } from '../objects/metadata.ts';
import type { ObjectRules } from '../objects/object-rules.ts';
import { plainRules } from './plain-rules.ts';

const layout = '2006-01-02T15:04:05.000000Z07:00';

/** A time in microseconds, as leases and events have it. Throws a `ShapeError` for one without a fraction. */
function microTime(value: Json): string {
  const match = typeof value === 'string' ? /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(.*)$/.exec(value) : null;
  const rest = match?.[1] ?? String(value);
  if (match === null || !/^\.\d{6}(?:Z|[-+]\d\d:\d\d)$/.test(rest))
    throw new ShapeError(
      `parsing time ${JSON.stringify(value)} as "${layout}": cannot parse ${JSON.stringify(rest)} as ".000000"`,
    );
  return String(value);
}

function shapeLease(lease: JsonObject): JsonObject {
  const spec: JsonObject = {};
  for (const [key, value] of Object.entries(objectAt(lease, 'spec'))) {
    if (isEmptyValue(value) && value !== '') continue;
    const isCount = key === 'leaseDurationSeconds' || key === 'leaseTransitions';
    if (isCount && !Number.isSafeInteger(value)) {
      const field = `LeaseSpec.spec.${key}`;
      throw new ShapeError(`json: cannot unmarshal ${goTypeOf(value)} into Go struct field ${field} of type int32`);
    }
    spec[key] = key === 'renewTime' || key === 'acquireTime' ? microTime(value) : value;
  }
  return { spec };
}

function validateLease(lease: JsonObject): StatusCause[] {
  const spec = objectAt(lease, 'spec');
  const [duration, transitions] = [numberAt(spec, 'leaseDurationSeconds'), numberAt(spec, 'leaseTransitions')];
  const causes: StatusCause[] = [];
  if (duration !== undefined && duration <= 0)
    causes.push(invalidValue('spec.leaseDurationSeconds', duration, 'must be greater than 0'));
  if (transitions !== undefined && transitions < 0)
    causes.push(invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
  return causes;
}

export const leaseRules: ObjectRules = plainRules({
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  blank: { spec: {} },
  bareFinalizers: true,
  createsOnUpdate: true,
  updatesNeedVersion: true,
  shape: shapeLease,
  validate: validateLease,
});
