import { isEqualJson } from '../../api/json/json.ts';
import type { Json, JsonObject } from '../../api/json/types.ts';
import { forbiddenChange, invalidValue, requiredValue, type StatusCause } from '../objects/api-status.ts';
import { mismatch, textMap } from '../objects/metadata.ts';
import { fieldsBeside, objectAt, ShapeError, textAt } from '../objects/selectors.ts';
import type { ObjectRules } from '../objects/store-types.ts';
import { plainRules } from './plain-rules.ts';

// Secrets and config maps: their data, and what may no longer change of an immutable one.

const keyPattern = /^[-._a-zA-Z0-9]+$/;
const keyRule =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const immutableRule = 'field is immutable when `immutable` is set';
/** The most bytes of data that a server keeps in one object. */
const maxBytes = 1024 * 1024;

/** The values of a map of bytes, in the one base64 form that the server writes. */
function bytesOf(kind: string, key: string, value: Json | undefined): Record<string, string> {
  const texts = textMap(`${kind}.${key}`, value, '[]uint8') ?? {};
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, canonicalBase64(text)]));
}

function canonicalBase64(text: string): string {
  const digits = text.replace(/[\r\n]/g, '');
  const bad = /^[A-Za-z0-9+/]*/.exec(digits)?.[0].length ?? 0;
  const isWhole = digits.length % 4 === 0 && /^={0,2}$/.test(digits.slice(bad));
  if (!isWhole) throw new ShapeError(`illegal base64 data at input byte ${bad}`);
  return Buffer.from(digits, 'base64').toString('base64');
}

function immutableOf(kind: string, value: Json | undefined): JsonObject {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'boolean') throw mismatch(`${kind}.immutable`, value, 'bool');
  return { immutable: value };
}

function unlessEmpty(key: string, map: Record<string, string>): JsonObject {
  return Object.keys(map).length === 0 ? {} : { [key]: map };
}

/** `stringData` is written over `data`, and is never read. */
function shapeSecret(secret: JsonObject): JsonObject {
  const strings = Object.entries(textMap('Secret.stringData', secret.stringData) ?? {});
  const encoded = strings.map(([name, text]) => [name, Buffer.from(text).toString('base64')]);
  const data = { ...bytesOf('Secret', 'data', secret.data), ...Object.fromEntries(encoded) };
  const type = textAt(secret, 'type') || 'Opaque';
  return { ...immutableOf('Secret', secret.immutable), ...unlessEmpty('data', data), type };
}

function shapeConfigMap(map: JsonObject): JsonObject {
  const data = textMap('ConfigMap.data', map.data) ?? {};
  const binary = bytesOf('ConfigMap', 'binaryData', map.binaryData);
  return {
    ...immutableOf('ConfigMap', map.immutable),
    ...unlessEmpty('data', data),
    ...unlessEmpty('binaryData', binary),
  };
}

function keyCauses(field: string, map: JsonObject): StatusCause[] {
  const bad = Object.keys(map).filter((key) => key.length > 253 || !keyPattern.test(key));
  return bad.map((key) => invalidValue(`${field}[${key}]`, key, keyRule));
}

function sizeOf(map: JsonObject, encoding: BufferEncoding): number {
  return Object.values(map).reduce((sum: number, value) => sum + Buffer.byteLength(String(value), encoding), 0);
}

function tooLong(field: string): StatusCause {
  return { reason: 'FieldValueTooLong', message: `Too long: may not be more than ${maxBytes} bytes`, field };
}

/** The keys that a secret of a type must have. */
const neededKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

function validateSecret(secret: JsonObject): StatusCause[] {
  const data = objectAt(secret, 'data');
  const causes = keyCauses('data', data);
  if (sizeOf(data, 'base64') > maxBytes) causes.push(tooLong('data'));
  const needed = neededKeys[textAt(secret, 'type')] ?? [];
  return [...causes, ...needed.filter((key) => !(key in data)).map((key) => requiredValue(`data[${key}]`))];
}

function validateConfigMap(map: JsonObject): StatusCause[] {
  const [data, binary] = [objectAt(map, 'data'), objectAt(map, 'binaryData')];
  const causes = [...keyCauses('data', data), ...keyCauses('binaryData', binary)];
  for (const key of Object.keys(data)) {
    if (key in binary) causes.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'));
  }
  // The server names no field here.
  if (sizeOf(data, 'utf8') + sizeOf(binary, 'base64') > maxBytes) causes.push(tooLong(''));
  return causes;
}

/** An immutable object stays immutable, and its members stay as they are. */
function immutableCauses(members: readonly string[]): (object: JsonObject, old: JsonObject) => StatusCause[] {
  return (object, old) => {
    if (old.immutable !== true) return [];
    const causes = object.immutable === true ? [] : [forbiddenChange('immutable', immutableRule)];
    const changed = members.filter((member) => !isEqualJson(object[member], old[member]));
    return [...causes, ...changed.map((member) => forbiddenChange(member, immutableRule))];
  };
}

const secretImmutable = immutableCauses(['data']);

function validateSecretUpdate(secret: JsonObject, old: JsonObject): StatusCause[] {
  const isSameType = secret.type === (textAt(old, 'type') || 'Opaque');
  const type = isSameType ? [] : [invalidValue('type', secret.type, 'field is immutable')];
  return [...type, ...secretImmutable(secret, old)];
}

export const secretRules: ObjectRules = plainRules({
  kind: 'Secret',
  apiVersion: 'v1',
  fields: fieldsBeside({ type: (secret) => textAt(secret, 'type') }),
  shape: shapeSecret,
  validate: validateSecret,
  validateUpdate: validateSecretUpdate,
});

export const configMapRules: ObjectRules = plainRules({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  shape: shapeConfigMap,
  validate: validateConfigMap,
  validateUpdate: immutableCauses(['data', 'binaryData']),
});
