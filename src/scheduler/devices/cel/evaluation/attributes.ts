import {
  CelFailure,
  CelList,
  CelMap,
  CelOptional,
  CelTypeValue,
  CelUint,
  type CelValue,
  isCelExtension,
  typeNameOf,
} from '../values.ts';
import type { CelScope } from './scope.ts';

export type Evaluate = (scope: CelScope) => CelValue;

/** A step from a value to a part of it: a field, or an index. */
interface Step {
  readonly optional: boolean;
  readonly testOnly: boolean;
  /** The key, or a failure. */
  readonly key: Evaluate;
}

/** Where the steps of an attribute begin. */
type Root =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'value'; readonly evaluate: Evaluate }
  | { readonly kind: 'choice'; readonly condition: Evaluate; readonly truthy: Attribute; readonly falsy: Attribute };

/** A name or another value with the fields and indexes that follow it. */
export class Attribute {
  readonly root: Root;
  readonly #steps: Step[] = [];

  constructor(root: Root) {
    this.root = root;
  }

  /** One more step. After a choice it follows either branch. */
  add(step: Step): void {
    if (this.root.kind !== 'choice') {
      this.#steps.push(step);
      return;
    }
    this.root.truthy.add(step);
    this.root.falsy.add(step);
  }

  resolve(scope: CelScope): CelValue {
    const { root } = this;
    if (root.kind === 'choice') {
      const condition = root.condition(scope);
      if (condition === true) return root.truthy.resolve(scope);
      if (condition === false) return root.falsy.resolve(scope);
      return condition instanceof CelFailure ? condition : new CelFailure('a condition has to be true or false');
    }
    const value = root.kind === 'name' ? named(root.name, scope) : root.evaluate(scope);
    return value instanceof CelFailure ? value : this.#stepped(value, scope);
  }

  #stepped(start: CelValue, scope: CelScope): CelValue {
    let value = start;
    let optional = false;
    if (start instanceof CelOptional) {
      if (start.value === undefined) return start;
      value = rewrapped(start.value);
      optional = true;
    }
    for (const step of this.#steps) {
      optional ||= step.optional;
      const key = step.key(scope);
      scope.meter.workOn(key);
      const next = key instanceof CelFailure ? key : partOf(value, key, optional || step.testOnly);
      if (optional) {
        if (next instanceof CelFailure) return next;
        if (next === undefined) return new CelOptional();
        scope.meter.spend(1);
        value = next;
      } else {
        scope.meter.spend(1);
        if (next instanceof CelFailure) return next;
        value = step.testOnly ? next !== undefined : (next as CelValue);
      }
    }
    return optional ? new CelOptional(value) : value;
  }
}

function named(name: string, scope: CelScope): CelValue {
  const value = scope.lookup(name);
  return value === undefined ? new CelTypeValue(name) : value;
}

/** Undefined where a part may be missing and is. */
function partOf(value: CelValue, key: CelValue, mayMiss: boolean): CelValue | undefined {
  if (!isKey(key)) return new CelFailure(`a value of type ${typeNameOf(key)} is no key`);
  if (value instanceof CelFailure) return value;
  if (value instanceof CelMap) {
    const found = value.find(key);
    if (found !== undefined || mayMiss) return found;
    return new CelFailure(`there is no ${shownKey(key)}`);
  }
  if (value instanceof CelList) {
    const index = indexOf(key);
    if (index === undefined) return new CelFailure(`a list has no element ${shownKey(key)}`);
    if (index >= 0 && index < value.items.length) return value.items[index];
    return mayMiss ? undefined : new CelFailure(`a list of ${value.items.length} has no element ${index}`);
  }
  return mayMiss ? undefined : new CelFailure(`a value of type ${typeNameOf(value)} has no ${shownKey(key)}`);
}

/** Whether a value can be the key of a field or an index at all. */
export function isKey(value: CelValue): boolean {
  return ['string', 'bigint', 'boolean', 'number'].includes(typeof value) || value instanceof CelUint;
}

function indexOf(key: CelValue): number | undefined {
  if (typeof key === 'bigint') return Number(key);
  if (key instanceof CelUint) return Number(key.value);
  return typeof key === 'number' && Number.isInteger(key) ? key : undefined;
}

function shownKey(key: CelValue): string {
  if (key instanceof CelUint) return String(key.value);
  return typeof key === 'string' ? JSON.stringify(key.slice(0, 60)) : String(key);
}

/**
 * What upstream makes of the value of an optional on its way through a name or a choice: it goes through Go's own types, and what
 * has none there is lost.
 */
function rewrapped(value: CelValue): CelValue {
  if (isCelExtension(value)) return new CelFailure(`an optional ${value.typeName} cannot be handed on`);
  if (value instanceof CelTypeValue) return value.name;
  if (value instanceof CelOptional) return value.value === undefined ? null : rewrapped(value.value);
  if (value instanceof CelMap && value.fallback !== undefined) return withoutFallback(value);
  return value;
}

function withoutFallback(map: CelMap): CelMap {
  const plain = new CelMap({ native: true });
  for (const [key, value] of map.entries()) plain.set(key, value);
  return plain;
}
