import { DeviceSelectorError } from '../../../src/scheduler/devices/selectors/device-selector-error.ts';
import { DeviceSelectors } from '../../../src/scheduler/devices/selectors/device-selectors.ts';
import type { SelectedDevice } from '../../../src/scheduler/devices/selectors/device-values.ts';
import { falsifyOut } from '../kinds/falsify-out.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { type DeviceSelectorsCase, deviceSelectorsCaseProblem, type SelectorAnswer } from './device-selectors-case.ts';

type Answers = DeviceSelectorsCase['out'];

/** Recordings of the expressions that select devices. */
export const deviceSelectorsKind = replayedKind({
  problem: deviceSelectorsCaseProblem,
  play: playDeviceSelectors,
  judge: judgeDeviceSelectors,
  falsify: falsifyOut,
});

function playDeviceSelectors({ expressions, devices }: DeviceSelectorsCase): Answers {
  const selectors = new DeviceSelectors();
  return expressions.map((expression) => devices.map((device) => answerOf(selectors, expression, device)));
}

function answerOf(selectors: DeviceSelectors, expression: string, device: SelectedDevice): SelectorAnswer {
  try {
    return selectors.matches(expression, device) ? 'true' : 'false';
  } catch (error) {
    if (!(error instanceof DeviceSelectorError)) throw error;
    return error.during === 'compile' ? 'compileError' : 'runtimeError';
  }
}

/** What differs, expression by expression. There is no exemption. */
function judgeDeviceSelectors({ expressions, out }: DeviceSelectorsCase, played: Answers): string[] {
  if (out.length !== played.length) return [`${out.length} expressions, ${played.length} answers`];
  return expressions.flatMap((expression, i) => {
    const [expected, got] = [JSON.stringify(out[i]), JSON.stringify(played[i])];
    return expected === got ? [] : [`${expression}: expected ${expected}, got ${got}`];
  });
}
