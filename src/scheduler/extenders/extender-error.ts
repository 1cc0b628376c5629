import { StatusManagerError } from '../../base/errors.ts';

/**
 * An extender of the scheduler did not answer, or not as it must; code ERR_EXTENDER. It ends the attempt of one pod, which is tried again.
 * `cause` says what failed.
 *
 * @example
 * ```ts
 * import { ExtenderError } from 'pod-status-manager/scheduler';
 *
 * const error = new ExtenderError('https://gpu.example.com', 'filter', 'default/web', 'no answer within 5000 ms');
 * console.log(error.code, error.extender); // ERR_EXTENDER https://gpu.example.com
 * console.log(error.message); // The extender https://gpu.example.com failed to filter nodes for default/web: no answer within 5000 ms
 * ```
 */
export class ExtenderError extends StatusManagerError {
  /** The address of the extender. */
  readonly extender: string;
  /** What it was asked to do. */
  readonly step: ExtenderStep;

  constructor(extender: string, step: ExtenderStep, podKey: string, what: string, options?: ErrorOptions) {
    super('ERR_EXTENDER', `The extender ${extender} failed to ${stepInWords(step)} ${podKey}: ${what}`, options);
    this.name = 'ExtenderError';
    this.extender = extender;
    this.step = step;
  }
}

/** What an extender may be asked. */
export type ExtenderStep = 'filter' | 'prioritize' | 'preempt' | 'bind';

/** What an extender is asked to do: `filter nodes for`, before the name of a pod. */
export function stepInWords(step: ExtenderStep): string {
  return stepWords[step];
}

const stepWords: Readonly<Record<ExtenderStep, string>> = {
  filter: 'filter nodes for',
  prioritize: 'score nodes for',
  preempt: 'choose victims for',
  bind: 'bind',
};
