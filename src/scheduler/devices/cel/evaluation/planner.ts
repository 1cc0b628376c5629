import { CelAbort, CelMeter } from '../cel-meter.ts';
import type { CheckedCall, CheckedCel } from '../checker.ts';
import { celEquals, listHas } from '../comparison.ts';
import { type CelFunctions, dispatched } from '../functions/dispatch.ts';
import { patternSize } from '../functions/patterns.ts';
import { type CelCall, CelCompileError, type CelExpression, operators } from '../syntax.ts';
import { CelFailure, CelList, CelMap, CelOptional, CelUint, type CelValue, isUnhashable } from '../values.ts';
import { Attribute, type Evaluate, isKey } from './attributes.ts';
import { callCost } from './call-costs.ts';
import { foldEvaluation } from './folding.ts';
import { CelVariables } from './scope.ts';

/** A part that is ready to be evaluated. */
interface Plan {
  readonly evaluate: Evaluate;
  readonly constant?: { readonly value: CelValue };
  readonly attribute?: Attribute;
}

const conversions = new Set(['bool', 'bytes', 'double', 'dyn', 'int', 'string', 'type', 'uint']);
const patternFunctions = new Set(['matches', 'find', 'findAll']);
/** A list that is written down costs this much each time it is made, and a map that. */
const listCost = 10;
const mapCost = 30;
const mostSteps = 50_000;
/** The automatons of all patterns that an expression names are no larger together. */
const mostPatternSize = 100_000;

/** Makes an expression ready to be evaluated. Throws CelCompileError for constants that make no sense. */
export function plannedCel(checked: CheckedCel, functions: CelFunctions): Evaluate {
  return new CelPlanner(checked, functions).plan(checked.expression).evaluate;
}

class CelPlanner {
  readonly #checked: CheckedCel;
  readonly #functions: CelFunctions;
  #steps = 0;
  #patternSize = 0;

  constructor(checked: CheckedCel, functions: CelFunctions) {
    this.#checked = checked;
    this.#functions = functions;
  }

  plan(expression: CelExpression): Plan {
    if (++this.#steps > mostSteps) throw new CelCompileError('it is too large with its macros expanded', expression.at);
    switch (expression.kind) {
      case 'literal':
        return constant(expression.value);
      case 'ident':
        return this.#name(expression);
      case 'select':
        return this.#select(expression);
      case 'call':
        return this.#call(expression);
      case 'list':
        return this.#list(expression);
      case 'map':
        return this.#map(expression);
      default: {
        const parts = {
          initial: this.plan(expression.initial).evaluate,
          range: this.plan(expression.range).evaluate,
          condition: this.plan(expression.condition).evaluate,
          step: this.plan(expression.step).evaluate,
          result: this.plan(expression.result).evaluate,
        };
        return { evaluate: foldEvaluation(expression, parts) };
      }
    }
  }

  /** A name that means a type is a constant, and no other name may have a type for its value. */
  #name(expression: CelExpression & { readonly kind: 'ident' }): Plan {
    const name = expression.name.replace(/^\./, '');
    if (!this.#checked.typeNames.has(expression)) return attributePlan(new Attribute({ kind: 'name', name }));
    const type = this.#checked.typeNames.get(expression);
    if (type === undefined) throw new CelCompileError(`the value of ${name} would be a type`, expression.at);
    return constant(type);
  }

  #select(expression: CelExpression & { readonly kind: 'select' }): Plan {
    const attribute = asAttribute(this.plan(expression.operand));
    attribute.add({ optional: false, testOnly: expression.testOnly, key: () => expression.field });
    return expression.testOnly ? testPlan(attribute) : attributePlan(attribute);
  }

  #call(expression: CelCall): Plan {
    const call = this.#checked.calls.get(expression);
    if (call === undefined) throw new TypeError(`a call that was not checked: ${expression.name}`);
    const args = [...(call.target === undefined ? [] : [call.target]), ...expression.args].map((arg) => this.plan(arg));
    switch (call.name) {
      case operators.and:
        return { evaluate: logical(args, false) };
      case operators.or:
        return { evaluate: logical(args, true) };
      case operators.conditional: {
        const [condition, truthy, falsy] = args as [Plan, Plan, Plan];
        return attributePlan(
          new Attribute({
            kind: 'choice',
            condition: condition.evaluate,
            truthy: asAttribute(truthy),
            falsy: asAttribute(falsy),
          }),
        );
      }
      case operators.equals:
      case operators.notEquals:
        return { evaluate: equality(call.name, args) };
      case operators.index:
        return indexed(args, false, expression.at);
      case operators.optionalIndex:
      case operators.optionalSelect:
        return indexed(args, true, expression.at);
      case 'or':
      case 'orValue':
        return { evaluate: alternative(args, call.name === 'orValue') };
      default:
        return this.#function(expression, call, args);
    }
  }

  #function(expression: CelCall, call: CheckedCall, args: readonly Plan[]): Plan {
    const id = call.forms.length === 1 ? (call.forms[0]?.id ?? '') : '';
    if (patternFunctions.has(call.name)) this.#checkPatterns(expression, call, args);
    const apply = dispatched(call.name, call.forms, this.#functions);
    const stepwise = this.#isStepwise(call, args);
    const evaluate: Evaluate = (scope) => {
      const values: CelValue[] = [];
      let failure: CelFailure | undefined;
      for (const [i, arg] of args.entries()) {
        const value = arg.evaluate(scope);
        if (value instanceof CelFailure && call.name !== operators.notStrictlyFalse) {
          failure ??= value;
          if (stepwise && i < args.length - 1) return failure;
        }
        values.push(value);
      }
      scope.meter.workOn(...values);
      const result = failure ?? apply(values, scope.meter);
      scope.meter.spend(callCost(call.name, id, values, result, scope.meter));
      return result;
    };
    if (args.length === 1 && conversions.has(call.name) && args[0]?.constant !== undefined) {
      const value = apply([args[0].constant.value], new CelMeter(Number.POSITIVE_INFINITY));
      if (value instanceof CelFailure) throw new CelCompileError(value.message, expression.at);
      return constant(value);
    }
    if (id === 'in_list') return membership(args, evaluate);
    return { evaluate };
  }

  /** Of some calls upstream neither looks at nor counts what comes after an argument that fails. */
  #isStepwise(call: CheckedCall, args: readonly Plan[]): boolean {
    if (args.length > 2 || (patternFunctions.has(call.name) && args[1]?.constant !== undefined)) return true;
    return call.forms.length > 1 && !this.#functions.byName.has(call.name);
  }

  #checkPatterns(expression: CelCall, call: CheckedCall, args: readonly Plan[]): void {
    const [first] = expression.args;
    const checked = [args[1]?.constant?.value];
    if (call.name === 'matches' && call.target === undefined && first?.kind === 'literal') checked.push(first.value);
    for (const pattern of checked) {
      if (typeof pattern !== 'string') continue;
      this.#patternSize += patternSize(pattern);
      if (this.#patternSize > mostPatternSize)
        throw new CelCompileError('its regular expressions are too large together', expression.at);
      const message = this.#functions.patterns.problem(pattern);
      if (message !== undefined) throw new CelCompileError(message, expression.at);
    }
  }

  #list(expression: CelExpression & { readonly kind: 'list' }): Plan {
    const parts = expression.elements.map(({ value, optional }) => ({ optional, ...this.plan(value) }));
    const evaluate: Evaluate = (scope) => {
      const items: CelValue[] = [];
      for (const part of parts) {
        const value = presentValue(part.evaluate(scope), part.optional);
        if (value instanceof CelFailure) return value;
        if (value !== undefined) items.push(value);
      }
      return new CelList(items);
    };
    return literalPlan(evaluate, parts, listCost);
  }

  #map(expression: CelExpression & { readonly kind: 'map' }): Plan {
    const parts = expression.entries.map((entry) => ({
      optional: entry.optional,
      key: this.plan(entry.key),
      value: this.plan(entry.value),
    }));
    const evaluate: Evaluate = (scope) => {
      const map = new CelMap();
      for (const part of parts) {
        const key = part.key.evaluate(scope);
        if (key instanceof CelFailure) return key;
        const value = presentValue(part.value.evaluate(scope), part.optional);
        if (value instanceof CelFailure) return value;
        if (isUnhashable(key)) throw new CelAbort('a key of a map is of a type that cannot be one');
        scope.meter.workOn(key);
        if (value === undefined) map.delete(key);
        else map.set(key, value);
      }
      return map;
    };
    return literalPlan(
      evaluate,
      parts.flatMap(({ key, value }) => [key, value]),
      mapCost,
    );
  }
}

function constant(value: CelValue): Plan {
  return { evaluate: () => value, constant: { value } };
}

/** A list or a map; one of constants is made once and costs nothing. */
function literalPlan(evaluate: Evaluate, parts: readonly Plan[], cost: number): Plan {
  if (parts.every((part) => part.constant !== undefined)) {
    return constant(evaluate(new CelVariables(new Map(), new CelMeter(Number.POSITIVE_INFINITY))));
  }
  return {
    evaluate: (scope) => {
      const value = evaluate(scope);
      scope.meter.spend(cost);
      return value;
    },
  };
}

/** The value inside where it is optional: undefined where there is none. */
function presentValue(value: CelValue, optional: boolean): CelValue | undefined {
  if (!optional || value instanceof CelFailure) return value;
  return value instanceof CelOptional
    ? value.value
    : new CelFailure('what is optional in a list or a map has to be an optional value');
}

function asAttribute(plan: Plan): Attribute {
  return plan.attribute ?? new Attribute({ kind: 'value', evaluate: plan.evaluate });
}

function attributePlan(attribute: Attribute): Plan {
  const cost = attribute.root.kind === 'choice' ? 0 : 1;
  return {
    attribute,
    evaluate: (scope) => {
      const value = attribute.resolve(scope);
      scope.meter.spend(cost);
      return value;
    },
  };
}

/** `has(a.b)`: costs nothing beside its steps. */
function testPlan(attribute: Attribute): Plan {
  const cost = attribute.root.kind === 'choice' ? -1 : 0;
  return {
    attribute,
    evaluate: (scope) => {
      const value = attribute.resolve(scope);
      scope.meter.spend(cost);
      return value instanceof CelOptional ? value.value !== undefined : value;
    },
  };
}

function indexed([operand, index]: readonly Plan[], optional: boolean, at: number): Plan {
  if (operand === undefined || index === undefined) throw new TypeError('an index without its parts');
  const attribute = asAttribute(operand);
  if (index.constant !== undefined && !isKey(index.constant.value)) throw new CelCompileError('this is no key', at);
  const key =
    index.attribute === undefined ? index.evaluate : (scope: Parameters<Evaluate>[0]) => asAttribute(index).resolve(scope);
  attribute.add({ optional, testOnly: false, key });
  return attributePlan(attribute);
}

/** `||` and `&&`: the first part that decides, whatever fails before it. */
function logical(args: readonly Plan[], decides: boolean): Evaluate {
  return (scope) => {
    let failure: CelFailure | undefined;
    for (const arg of args) {
      const value = arg.evaluate(scope);
      if (value === decides) return decides;
      if (typeof value === 'boolean') continue;
      failure ??= value instanceof CelFailure ? value : new CelFailure('both sides of && and || have to be true or false');
    }
    return failure ?? !decides;
  };
}

function equality(name: string, [left, right]: readonly Plan[]): Evaluate {
  return (scope) => {
    const values = [left?.evaluate(scope), right?.evaluate(scope)] as [CelValue, CelValue];
    const result = equalityOf(name, values, scope.meter);
    scope.meter.spend(callCost(name, name === operators.equals ? 'equals' : 'not_equals', values, result, scope.meter));
    return result;
  };
}

function equalityOf(name: string, [a, b]: readonly [CelValue, CelValue], meter: CelMeter): CelValue {
  if (a instanceof CelFailure) return a;
  if (b instanceof CelFailure) return b;
  const equal = celEquals(a, b, meter);
  // What cannot be compared is not equal.
  return name === operators.equals ? equal : equal !== true;
}

function alternative([left, right]: readonly Plan[], unwrap: boolean): Evaluate {
  return (scope) => {
    const value = left?.evaluate(scope) as CelValue;
    if (!(value instanceof CelOptional)) return value;
    if (value.value === undefined) return right?.evaluate(scope) as CelValue;
    return unwrap ? value.value : value;
  };
}

/** `x in [1, 2]`: a list of plain constants is looked up at no cost. */
function membership([value, list]: readonly Plan[], evaluate: Evaluate): Plan {
  const items = list?.constant?.value;
  if (value === undefined || !(items instanceof CelList)) return { evaluate };
  if (items.items.length === 0) return constant(false);
  if (!items.items.every(isPlain)) return { evaluate };
  return {
    evaluate: (scope) => {
      const found = value.evaluate(scope);
      if (found instanceof CelFailure) return found;
      if (isUnhashable(found)) throw new CelAbort('a value of this type cannot be looked up in a list of constants');
      return listHas(items, found, scope.meter);
    },
  };
}

function isPlain(value: CelValue): boolean {
  return ['string', 'bigint', 'boolean', 'number'].includes(typeof value) || value instanceof CelUint;
}
