import type { VNode } from 'preact';
import { problemText } from '../../../../src/base/problem.ts';
import type { DebugProblem } from '../../../../src/observe/debug/debug-api.ts';
import type { Model } from '../model/model.ts';

/** The sign of trouble: a reader without colour sees it too. What follows it says the same in words. */
export function Sign(): VNode {
  return (
    <b class="sign" aria-hidden="true">
      !
    </b>
  );
}

/** One problem as sentences whose times are counted from now; with the pod where it is a pod's. */
export function Trouble({ model, problem }: { readonly model: Model; readonly problem: DebugProblem }): VNode {
  const { podUID, podNamespace, podName } = problem;
  return (
    <p class="notice trouble tone-bad">
      <Sign />{' '}
      {podUID === undefined ? null : <a href={model.addressOf({ podUID })}>{podName ? `${podNamespace}/${podName}` : podUID}</a>}{' '}
      <span>{problemText(problem, model.now())}</span>
    </p>
  );
}
