import { CelMeter } from '../../../../src/scheduler/devices/cel/cel-meter.ts';
import { checkedCel } from '../../../../src/scheduler/devices/cel/checker.ts';
import { celFunctions } from '../../../../src/scheduler/devices/cel/declarations.ts';
import { plannedCel } from '../../../../src/scheduler/devices/cel/evaluation/planner.ts';
import { CelVariables } from '../../../../src/scheduler/devices/cel/evaluation/scope.ts';
import { allCelFunctions } from '../../../../src/scheduler/devices/cel/functions/all-functions.ts';
import { parsedCel } from '../../../../src/scheduler/devices/cel/parser.ts';
import { CelFailure, type CelValue } from '../../../../src/scheduler/devices/cel/values.ts';
import { deviceEnvironment } from '../../../../src/scheduler/devices/selectors/device-values.ts';

const declared = celFunctions();
const functions = allCelFunctions(declared);

/** What an expression without a device comes to, and what that costs. Throws CelCompileError and CelAbort. */
export function celOutcome(expression: string, limit = 1_000_000): { readonly value: CelValue; readonly cost: number } {
  const evaluate = plannedCel(checkedCel(parsedCel(expression), deviceEnvironment(declared)), functions);
  const meter = new CelMeter(limit);
  const value = evaluate(new CelVariables(new Map(), meter));
  return { value, cost: meter.cost };
}

/** A plain value, or `failure: …`. */
export function celResult(expression: string): unknown {
  const { value } = celOutcome(expression);
  return value instanceof CelFailure ? `failure: ${value.message}` : value;
}

/** What is wrong with an expression before it is evaluated. */
export function compileProblem(expression: string): string {
  try {
    celOutcome(expression);
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing';
}
