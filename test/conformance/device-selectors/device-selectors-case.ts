import type { SelectedDevice } from '../../../src/scheduler/devices/selectors/device-values.ts';
import type { KindCase } from '../kinds/case-kind.ts';

export type SelectorAnswer = 'true' | 'false' | 'compileError' | 'runtimeError';

/** A recording of which devices the scheduler's expressions select. */
export interface DeviceSelectorsCase extends KindCase {
  readonly expressions: readonly string[];
  readonly devices: readonly SelectedDevice[];
  /** For each expression an answer for each device. */
  readonly out: readonly (readonly SelectorAnswer[])[];
}

/** What is wrong with the case; undefined when it can be played. */
export function deviceSelectorsCaseProblem(value: unknown): string | undefined {
  const { expressions, devices, out } = value as Partial<DeviceSelectorsCase>;
  if (!Array.isArray(expressions) || !Array.isArray(devices)) return 'a deviceSelectors case without expressions and devices';
  if (!Array.isArray(out) || out.length !== expressions.length)
    return 'a deviceSelectors case without answers for each expression';
  return undefined;
}
