/** The type of an expression, as far as it is known before it is evaluated. */
export interface CelType {
  readonly kind:
    | 'bool'
    | 'bytes'
    | 'double'
    | 'int'
    | 'null_type'
    | 'string'
    | 'uint'
    | 'dyn'
    | 'any'
    | 'error'
    | 'list'
    | 'map'
    | 'type'
    | 'struct'
    | 'opaque'
    | 'parameter';
  /** The name at runtime; of a parameter its own. */
  readonly name: string;
  readonly parameters: readonly CelType[];
}

const plain = (kind: CelType['kind'], name: string = kind): CelType => ({ kind, name, parameters: [] });

export const celTypes = {
  bool: plain('bool'),
  bytes: plain('bytes'),
  double: plain('double'),
  int: plain('int'),
  null: plain('null_type'),
  string: plain('string'),
  uint: plain('uint'),
  dyn: plain('dyn'),
  anything: plain('any', 'google.protobuf.Any'),
  error: plain('error'),
} as const;

export function listType(element: CelType): CelType {
  return { kind: 'list', name: 'list', parameters: [element] };
}

export function mapType(key: CelType, value: CelType): CelType {
  return { kind: 'map', name: 'map', parameters: [key, value] };
}

export function typeType(of: CelType): CelType {
  return { kind: 'type', name: 'type', parameters: [of] };
}

export function optionalType(of: CelType): CelType {
  return { kind: 'opaque', name: 'optional_type', parameters: [of] };
}

export function structType(name: string): CelType {
  return plain('struct', name);
}

export function parameterType(name: string): CelType {
  return plain('parameter', name);
}

export function isDyn(type: CelType): boolean {
  return type.kind === 'dyn' || type.kind === 'any';
}

/** What an optional type is made of. */
export function insideOptional(type: CelType): CelType | undefined {
  return type.kind === 'opaque' && type.name === 'optional_type' ? type.parameters[0] : undefined;
}

export function shownType(type: CelType): string {
  if (type.parameters.length === 0) return type.name;
  return `${type.name}(${type.parameters.map(shownType).join(', ')})`;
}

/** The same type in every part; `exactly` also by the names of its parameters. */
export function sameType(a: CelType, b: CelType, exactly = true): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.parameters.length !== b.parameters.length) return false;
  if ((exactly || a.kind !== 'parameter') && a.name !== b.name) return false;
  return a.parameters.every((part, i) => sameType(part, b.parameters[i] as CelType, exactly));
}

function isNullable(type: CelType): boolean {
  return type.kind === 'opaque' || type.kind === 'struct' || type.kind === 'null_type' || isDyn(type);
}

/** Types of variables that are not known yet, found while an expression is checked. */
export class TypeBindings {
  readonly #bound = new Map<string, CelType>();
  readonly #undo: (readonly [string, CelType | undefined])[] = [];

  /** Whether all of them fit; what was learned is kept only then. */
  agree(wanted: readonly CelType[], given: readonly CelType[]): boolean {
    const mark = this.#undo.length;
    if (this.#allFit(wanted, given)) return true;
    while (this.#undo.length > mark) {
      const [name, before] = this.#undo.pop() as readonly [string, CelType | undefined];
      if (before === undefined) this.#bound.delete(name);
      else this.#bound.set(name, before);
    }
    return false;
  }

  /** The type with what is known of its variables put in; `final` makes `dyn` of what is not known. */
  resolved(type: CelType, final = false): CelType {
    const bound = this.#get(type);
    if (bound !== undefined) return this.resolved(bound, final);
    if (type.kind === 'parameter') return final ? celTypes.dyn : type;
    if (type.parameters.length === 0) return type;
    const parameters = type.parameters.map((part) => this.resolved(part, final));
    return parameters.every((part, i) => part === type.parameters[i]) ? type : { ...type, parameters };
  }

  #get(type: CelType): CelType | undefined {
    return type.kind === 'parameter' ? this.#bound.get(type.name) : undefined;
  }

  #set(variable: CelType, type: CelType): void {
    this.#undo.push([variable.name, this.#bound.get(variable.name)]);
    this.#bound.set(variable.name, type);
  }

  #allFit(wanted: readonly CelType[], given: readonly CelType[]): boolean {
    return wanted.length === given.length && wanted.every((type, i) => this.#fits(type, given[i] as CelType));
  }

  #fits(a: CelType, b: CelType): boolean {
    if (b.kind === 'parameter') {
      const found = this.#substitutes(a, b);
      if (found.valid) return true;
      if (found.known) return false;
    }
    if (a.kind === 'parameter') return this.#substitutes(b, a).valid;
    if (isDyn(a) || isDyn(b) || a.kind === 'error' || b.kind === 'error') return true;
    if (a.kind === 'null_type') return isNullable(b);
    if (b.kind === 'null_type') return isNullable(a);
    if (a.kind === 'type') return b.kind === 'type';
    return a.kind === b.kind && a.name === b.name && this.#allFit(a.parameters, b.parameters);
  }

  #substitutes(type: CelType, variable: CelType): { valid: boolean; known: boolean } {
    if (type.kind === variable.kind && sameType(type, variable)) return { valid: true, known: true };
    const bound = this.#get(variable);
    if (bound === undefined) {
      if (!this.#mayHold(variable, type)) return { valid: false, known: false };
      this.#set(variable, type);
      return { valid: true, known: false };
    }
    if (sameType(type, bound)) return { valid: true, known: true };
    if (!this.#fits(type, bound)) return { valid: false, known: true };
    const wider = mostGeneral(type, bound);
    if (this.#mayHold(variable, wider)) this.#set(variable, wider);
    return { valid: true, known: true };
  }

  /** False where the variable is a part of the type. */
  #mayHold(variable: CelType, type: CelType): boolean {
    if (sameType(variable, type)) return false;
    if (type.kind === 'parameter') {
      const bound = this.#get(type);
      return bound === undefined || this.#mayHold(variable, bound);
    }
    return type.parameters.every((part) => this.#mayHold(variable, part));
  }
}

export function mostGeneral(a: CelType, b: CelType): CelType {
  return isAsGeneral(a, b) ? a : b;
}

function isAsGeneral(a: CelType, b: CelType): boolean {
  if (isDyn(a) || a.kind === 'parameter') return true;
  if (isDyn(b) || b.kind === 'parameter') return false;
  if (a.kind !== b.kind) return false;
  if (a.kind === 'type') return true;
  if (a.kind !== 'opaque' && a.kind !== 'list' && a.kind !== 'map') return sameType(a, b);
  if (a.name !== b.name || a.parameters.length !== b.parameters.length) return false;
  return a.parameters.every((part, i) => isAsGeneral(part, b.parameters[i] as CelType));
}
