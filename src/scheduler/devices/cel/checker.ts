import {
  type CelType,
  celTypes,
  insideOptional,
  isDyn,
  listType,
  mapType,
  mostGeneral,
  optionalType,
  parameterType,
  sameType,
  shownType,
  TypeBindings,
  typeType,
} from './cel-types.ts';
import { type CelOverload, missingFunctions } from './declarations.ts';
import { type CelCall, CelCompileError, type CelExpression, type CelFold, type CelListElement, operators } from './syntax.ts';
import { CelTypeValue, typeNameOf } from './values.ts';

/** What an expression may name: functions, variables, and the fields of objects. */
export interface CelEnvironment {
  readonly functions: ReadonlyMap<string, readonly CelOverload[]>;
  readonly variables: ReadonlyMap<string, CelType>;
  /** The fields of each object type, by its name. */
  readonly fields: ReadonlyMap<string, ReadonlyMap<string, CelType>>;
}

/** An expression whose types fit. */
export interface CheckedCel {
  readonly expression: CelExpression;
  readonly type: CelType;
  /** The function that a call means, and those of its forms that fit. */
  readonly calls: ReadonlyMap<CelExpression, CheckedCall>;
  /** Names whose values are types, and the names that mean one. */
  readonly typeNames: ReadonlyMap<CelExpression, CelTypeValue | undefined>;
}

export interface CheckedCall {
  readonly name: string;
  readonly target: CelExpression | undefined;
  readonly forms: readonly CelOverload[];
}

const { bool, bytes, double, int, uint, string, dyn } = celTypes;

/** The types that an expression can name. */
const typeNames: ReadonlyMap<string, CelType> = new Map(
  [
    ...[bool, bytes, double, int, uint, string, celTypes.null],
    ...[
      listType(parameterType('A')),
      mapType(parameterType('A'), parameterType('B')),
      typeType(dyn),
      optionalType(parameterType('V')),
    ],
  ].map((type) => [type.name, typeType(type)]),
);

/** Macros that copy their target can make a short text a large expression. */
const mostSteps = 50_000;

/** Finds the types of all parts. Throws CelCompileError where they do not fit. */
export function checkedCel(expression: CelExpression, environment: CelEnvironment): CheckedCel {
  return new CelChecker(environment).whole(expression);
}

interface Scope {
  readonly names: ReadonlyMap<string, CelType>;
  readonly outer: Scope | undefined;
}

class CelChecker {
  readonly #environment: CelEnvironment;
  readonly #bindings = new TypeBindings();
  readonly #types = new Map<CelExpression, CelType>();
  readonly #calls = new Map<CelExpression, CheckedCall>();
  #scope: Scope | undefined;
  #freeTypes = 0;
  #steps = 0;

  constructor(environment: CelEnvironment) {
    this.#environment = environment;
  }

  whole(expression: CelExpression): CheckedCel {
    const type = this.#bindings.resolved(this.#check(expression), true);
    for (const part of this.#types.keys()) this.#checkLiteral(part);
    return { expression, type, calls: this.#calls, typeNames: this.#typeNames() };
  }

  #typeNames(): ReadonlyMap<CelExpression, CelTypeValue | undefined> {
    const found = new Map<CelExpression, CelTypeValue | undefined>();
    for (const [part, type] of this.#types) {
      if (part.kind !== 'ident' || this.#bindings.resolved(type, true).kind !== 'type') continue;
      const name = part.name.replace(/^\./, '');
      found.set(part, typeNames.has(name) ? new CelTypeValue(name) : undefined);
    }
    return found;
  }

  #check(expression: CelExpression): CelType {
    if (++this.#steps > mostSteps) throw new CelCompileError('it is too large with its macros expanded', expression.at);
    const type = this.#typeOf(expression);
    this.#types.set(expression, type);
    return type;
  }

  #typeOf(expression: CelExpression): CelType {
    switch (expression.kind) {
      case 'literal':
        return Object.values(celTypes).find(({ name }) => name === typeNameOf(expression.value)) ?? dyn;
      case 'ident': {
        const type = this.#named(expression.name);
        if (type === undefined) throw new CelCompileError(`nothing is called ${expression.name}`, expression.at);
        return type;
      }
      case 'select':
        return this.#selected(expression);
      case 'call':
        return this.#called(expression);
      case 'list':
        return listType(this.#joined(expression.elements) ?? this.#freeType());
      case 'map': {
        const keys = expression.entries.map(({ key }) => ({ value: key, optional: false }));
        // Upstream looks at the parts in the order of the text; the types come out the same.
        const key = this.#joined(keys) ?? this.#freeType();
        return mapType(key, this.#joined(expression.entries) ?? this.#freeType());
      }
      default:
        return this.#folded(expression);
    }
  }

  #named(name: string): CelType | undefined {
    const plain = name.startsWith('.') ? name.slice(1) : name;
    for (let scope = this.#scope; scope !== undefined; scope = scope.outer) {
      const type = scope.names.get(plain);
      if (type !== undefined) return type;
    }
    return this.#environment.variables.get(plain) ?? typeNames.get(plain);
  }

  #selected(expression: CelExpression & { readonly kind: 'select' }): CelType {
    const found = this.#field(expression.operand, expression.field, false, expression.at);
    return expression.testOnly ? bool : this.#bindings.resolved(found);
  }

  #field(operand: CelExpression, field: string, optional: boolean, at: number): CelType {
    const operandType = this.#bindings.resolved(this.#check(operand));
    const inside = insideOptional(operandType);
    const type = this.#fieldOf(inside ?? operandType, field, at);
    return inside !== undefined || optional ? optionalType(type) : type;
  }

  #fieldOf(type: CelType, field: string, at: number): CelType {
    if (type.kind === 'map') return type.parameters[1] ?? dyn;
    if (type.kind === 'parameter') {
      this.#bindings.agree([dyn], [type]);
      return dyn;
    }
    const found = type.kind === 'struct' ? this.#environment.fields.get(type.name)?.get(field) : undefined;
    if (found !== undefined) return found;
    if (isDyn(type)) return dyn;
    throw new CelCompileError(`a value of type ${shownType(type)} has no field ${field}`, at);
  }

  #called(call: CelCall): CelType {
    if (call.name === operators.optionalSelect) {
      const [operand, field] = call.args as [CelExpression, CelExpression & { readonly kind: 'literal' }];
      this.#calls.set(call, { name: call.name, target: undefined, forms: [] });
      return this.#bindings.resolved(this.#field(operand, String(field.value), true, call.at));
    }
    const given = call.args.map((arg) => this.#check(arg));
    const { target } = call;
    if (target === undefined) return this.#resolved(call, call.name.replace(/^\./, ''), undefined, given);
    const prefix = qualifiedName(target);
    const qualified = prefix === undefined ? undefined : `${prefix}.${call.name}`;
    if (qualified !== undefined && (this.#environment.functions.has(qualified) || missingFunctions.has(qualified))) {
      return this.#resolved(call, qualified, undefined, given);
    }
    return this.#resolved(call, call.name, target, [this.#check(target), ...given]);
  }

  #resolved(call: CelCall, name: string, target: CelExpression | undefined, given: readonly CelType[]): CelType {
    const all = this.#environment.functions.get(name);
    if (all === undefined || name.startsWith('cel.@') !== call.name.startsWith('cel.@')) throw unknownFunction(name, call.at);
    if (name === operators.and || name === operators.or) {
      for (const [i, type] of given.entries()) this.#expect(bool, type, call.args[i]?.at ?? call.at);
      this.#calls.set(call, { name, target, forms: all });
      return bool;
    }
    const forms: CelOverload[] = [];
    let result: CelType | undefined;
    for (const form of all) {
      const fitting = form.method === (target !== undefined) ? this.#fitting(form, given) : undefined;
      if (fitting === undefined) continue;
      forms.push(form);
      if (result === undefined) result = fitting;
      else if (!isDyn(result) && !sameType(fitting, result)) result = dyn;
    }
    if (result === undefined) throw this.#noForm(name, given, target !== undefined, call.at);
    this.#calls.set(call, { name, target, forms });
    return result;
  }

  #fitting(form: CelOverload, given: readonly CelType[]): CelType | undefined {
    if (form.takes.length !== given.length) return undefined;
    if (form.free.length === 0) return this.#bindings.agree(given, form.takes) ? form.gives : undefined;
    const fresh = new Map(form.free.map((name) => [name, this.#freeType()]));
    const takes = form.takes.map((type) => replaced(type, fresh));
    return this.#bindings.agree(given, takes) ? this.#bindings.resolved(replaced(form.gives, fresh)) : undefined;
  }

  #noForm(name: string, given: readonly CelType[], method: boolean, at: number): CelCompileError {
    const types = given.map((type) => shownType(this.#bindings.resolved(type, true)));
    const shown = method ? `${types[0]}.${name}(${types.slice(1).join(', ')})` : `${name}(${types.join(', ')})`;
    return new CelCompileError(`there is no ${shown}`, at);
  }

  #joined(elements: readonly CelListElement[]): CelType | undefined {
    let joined: CelType | undefined;
    for (const { value, optional } of elements) {
      let type = this.#check(value);
      if (optional) {
        const inside = insideOptional(type);
        if (inside === undefined && !isDyn(type)) throw this.#mismatch(optionalType(type), type, value.at);
        type = inside ?? type;
      }
      if (joined === undefined) joined = type;
      else if (this.#bindings.agree([joined], [type])) joined = mostGeneral(joined, type);
      else throw this.#mismatch(joined, type, value.at);
    }
    return joined;
  }

  #folded(fold: CelFold): CelType {
    const range = this.#check(fold.range);
    const accumulated = this.#check(fold.initial);
    const [first, second] = this.#loopTypes(this.#bindings.resolved(range), fold);
    const outer = this.#scope;
    const outside: Scope = { names: new Map([[fold.accumulator, accumulated]]), outer };
    const inside = new Map([[fold.variable, first]]);
    if (fold.secondVariable !== undefined) inside.set(fold.secondVariable, second);
    this.#scope = { names: inside, outer: outside };
    this.#expect(bool, this.#check(fold.condition), fold.condition.at);
    this.#expect(accumulated, this.#check(fold.step), fold.step.at);
    this.#scope = outside;
    const result = this.#check(fold.result);
    this.#scope = outer;
    return this.#bindings.resolved(result);
  }

  #loopTypes(range: CelType, fold: CelFold): readonly [CelType, CelType] {
    const two = fold.secondVariable !== undefined;
    const [first = dyn, second = dyn] = range.parameters;
    if (range.kind === 'list') return two ? [int, first] : [first, dyn];
    if (range.kind === 'map') return [first, second];
    if (range.kind === 'parameter') this.#bindings.agree([dyn], [range]);
    // `any`, the type of attributes, is no type to loop over: only `dyn` is.
    else if (range.kind !== 'dyn')
      throw new CelCompileError(`a loop goes over lists and maps, not ${shownType(range)}`, fold.range.at);
    return [dyn, dyn];
  }

  #expect(wanted: CelType, type: CelType, at: number): void {
    if (!this.#bindings.agree([wanted], [type])) throw this.#mismatch(wanted, type, at);
  }

  #mismatch(wanted: CelType, type: CelType, at: number): CelCompileError {
    const shown = [wanted, type].map((one) => shownType(this.#bindings.resolved(one, true)));
    return new CelCompileError(`expected ${shown[0]}, found ${shown[1]}`, at);
  }

  #freeType(): CelType {
    return parameterType(`_${this.#freeTypes++}`);
  }

  /** A second look at lists and maps: their parts have to be of one type in every detail. */
  #checkLiteral(expression: CelExpression): void {
    if (expression.kind === 'list') this.#checkAlike(expression.elements);
    if (expression.kind !== 'map') return;
    this.#checkAlike(expression.entries.map(({ key }) => ({ value: key, optional: false })));
    this.#checkAlike(expression.entries);
  }

  #checkAlike(elements: readonly CelListElement[]): void {
    let wanted: CelType | undefined;
    for (const { value, optional } of elements) {
      const whole = this.#bindings.resolved(this.#types.get(value) ?? dyn, true);
      const type = optional ? (insideOptional(whole) ?? dyn) : whole;
      if (wanted === undefined) wanted = type;
      else if (!sameType(wanted, type, false)) throw this.#mismatch(wanted, type, value.at);
    }
  }
}

function replaced(type: CelType, fresh: ReadonlyMap<string, CelType>): CelType {
  if (type.kind === 'parameter') return fresh.get(type.name) ?? type;
  if (type.parameters.length === 0) return type;
  return { ...type, parameters: type.parameters.map((part) => replaced(part, fresh)) };
}

function qualifiedName(expression: CelExpression): string | undefined {
  if (expression.kind === 'ident') return expression.name.replace(/^\./, '');
  if (expression.kind !== 'select' || expression.testOnly) return undefined;
  const prefix = qualifiedName(expression.operand);
  return prefix === undefined ? undefined : `${prefix}.${expression.field}`;
}

function unknownFunction(name: string, at: number): CelCompileError {
  if (missingFunctions.has(name))
    return new CelCompileError(`the function ${name}() is not offered in device selectors here`, at);
  return new CelCompileError(`there is no function ${name}()`, at);
}
