import { StatusManagerError } from '../../../base/errors.ts';
import { textBeginning } from '../../../base/text-beginning.ts';

const mostShown = 200;

/**
 * An expression that selects devices cannot be compiled, or fails at a device; code ERR_DEVICE_SELECTOR. The pod whose claim or class
 * has the expression is not placed.
 */
export class DeviceSelectorError extends StatusManagerError {
  /** The expression; a long one only in part. */
  readonly expression: string;
  /** `compile`: it makes no sense for any device. `evaluate`: it fails at this one. */
  readonly during: 'compile' | 'evaluate';

  constructor(expression: string, during: 'compile' | 'evaluate', what: string) {
    const shown = textBeginning(expression, mostShown);
    const failed = during === 'compile' ? 'cannot be compiled' : 'failed at a device';
    super('ERR_DEVICE_SELECTOR', `The device selector ${JSON.stringify(shown)} ${failed}: ${textBeginning(what, mostShown)}`);
    this.name = 'DeviceSelectorError';
    this.expression = shown;
    this.during = during;
  }
}
