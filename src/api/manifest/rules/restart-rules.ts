// Behaviour of pkg/apis/core/validation for restart policies of containers, v1.36.3.
import { check } from '../text/invalid-manifest.ts';
import type { Container } from '../types/pod-parts.ts';
import { checkOneOf, checkOptionalOneOf, checkPresent } from './text-rules.ts';

const mostRules = 20;
const mostExitCodes = 255;

export function checkRestartPolicy(path: string, { restartPolicy, restartPolicyRules = [] }: Container): void {
  checkOptionalOneOf(`${path}.restartPolicy`, restartPolicy, ['Always', 'OnFailure', 'Never']);
  const place = `${path}.restartPolicyRules`;
  if (restartPolicyRules.length > 0) checkPresent(`${path}.restartPolicy`, restartPolicy);
  check(restartPolicyRules.length <= mostRules, place, `at most ${mostRules} rules`, restartPolicyRules.length);
  for (const [index, { action, exitCodes }] of restartPolicyRules.entries()) {
    checkOneOf(`${place}[${index}].action`, action, ['Restart', 'RestartAllContainers']);
    checkPresent(`${place}[${index}].exitCodes`, exitCodes);
    checkOneOf(`${place}[${index}].exitCodes.operator`, exitCodes?.operator, ['In', 'NotIn']);
    const codes = exitCodes?.values?.length ?? 0;
    check(codes <= mostExitCodes, `${place}[${index}].exitCodes.values`, `at most ${mostExitCodes} exit codes`, codes);
  }
}
