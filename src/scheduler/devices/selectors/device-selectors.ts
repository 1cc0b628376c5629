import { CelAbort, CelMeter } from '../cel/cel-meter.ts';
import { type CelEnvironment, checkedCel } from '../cel/checker.ts';
import { celFunctions } from '../cel/declarations.ts';
import type { Evaluate } from '../cel/evaluation/attributes.ts';
import { plannedCel } from '../cel/evaluation/planner.ts';
import { CelVariables } from '../cel/evaluation/scope.ts';
import { allCelFunctions } from '../cel/functions/all-functions.ts';
import type { CelFunctions } from '../cel/functions/dispatch.ts';
import { parsedCel } from '../cel/parser.ts';
import { CelCompileError } from '../cel/syntax.ts';
import { CelFailure, type CelValue } from '../cel/values.ts';
import { DeviceSelectorError } from './device-selector-error.ts';
import { deviceEnvironment, deviceValue, type SelectedDevice } from './device-values.ts';

export interface DeviceSelectorsOptions {
  /** How many compiled expressions are kept; those that were not used for longest go first. 10, as upstream, if left out. */
  readonly mostExpressions?: number;
}

/** The limits of resource.k8s.io/v1: bytes of an expression, and steps that it may take at a device. */
const longestExpression = 10 * 1024;
const mostCost = 1_000_000;

/** Expressions that select devices, in CEL, as kube-scheduler v1.36.3 understands them. */
export class DeviceSelectors {
  readonly #functions: CelFunctions;
  readonly #environment: CelEnvironment;
  readonly #compiled = new Map<string, Evaluate>();
  readonly #values = new WeakMap<SelectedDevice, ReturnType<typeof deviceValue>>();
  readonly #mostExpressions: number;

  constructor({ mostExpressions = 10 }: DeviceSelectorsOptions = {}) {
    const declared = celFunctions();
    this.#functions = allCelFunctions(declared);
    this.#environment = deviceEnvironment(declared);
    this.#mostExpressions = mostExpressions;
  }

  /**
   * Whether an expression is true for a device, which must not change afterwards. Throws a DeviceSelectorError where it cannot be
   * compiled, or fails at this device.
   */
  matches(expression: string, device: SelectedDevice): boolean {
    const evaluate = this.#ready(expression);
    let value = this.#values.get(device);
    if (value === undefined) {
      value = deviceValue(device);
      this.#values.set(device, value);
    }
    if (isProblem(value)) throw new DeviceSelectorError(expression, 'evaluate', value.problem);
    const result = evaluated(expression, evaluate, value);
    if (typeof result === 'boolean') return result;
    const what = result instanceof CelFailure ? result.message : 'the result is neither true nor false';
    throw new DeviceSelectorError(expression, 'evaluate', what);
  }

  #ready(expression: string): Evaluate {
    const known = this.#compiled.get(expression);
    const evaluate = known ?? this.#compile(expression);
    // A map keeps its order: what is used goes to its end, and what is at its beginning was not used for longest.
    this.#compiled.delete(expression);
    this.#compiled.set(expression, evaluate);
    if (this.#compiled.size > this.#mostExpressions) this.#compiled.delete(this.#compiled.keys().next().value ?? '');
    return evaluate;
  }

  #compile(expression: string): Evaluate {
    if (expression.length > longestExpression || Buffer.byteLength(expression) > longestExpression) {
      throw new DeviceSelectorError(expression, 'compile', `it has more than ${longestExpression} bytes`);
    }
    try {
      const checked = checkedCel(parsedCel(expression), this.#environment);
      if (checked.type.kind !== 'bool' && checked.type.kind !== 'any') {
        throw new CelCompileError(`it has to be true or false, not of type ${checked.type.name}`, 0);
      }
      return plannedCel(checked, this.#functions);
    } catch (error) {
      throw new DeviceSelectorError(expression, 'compile', compileProblem(error, expression));
    }
  }
}

function isProblem(value: ReturnType<typeof deviceValue>): value is { readonly problem: string } {
  return typeof value === 'object' && value !== null && 'problem' in value;
}

function evaluated(expression: string, evaluate: Evaluate, device: CelValue): CelValue {
  try {
    return evaluate(new CelVariables(new Map([['device', device]]), new CelMeter(mostCost)));
  } catch (error) {
    // Deep nesting can fill the stack; whatever else fails here must not look like an answer either.
    const what = error instanceof CelAbort || error instanceof RangeError ? error.message : String(error);
    throw new DeviceSelectorError(expression, 'evaluate', what);
  }
}

function compileProblem(error: unknown, expression: string): string {
  if (!(error instanceof CelCompileError)) return error instanceof Error ? error.message : String(error);
  const before = expression.slice(0, error.at).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: ${error.message}`;
}
