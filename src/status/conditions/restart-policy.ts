// Behaviour of pkg/api/v1/pod (container restart rules), v1.36.3, with its default feature gates.
import type { Pod } from '../../api/json/types.ts';

export type PodSpec = NonNullable<Pod['spec']>;
export type Container = PodSpec['containers'][number];
export type ContainerRestartRule = NonNullable<Container['restartPolicyRules']>[number];

/** The first rule that speaks of this exit code. A rule without exit codes, or with an unknown operator, matches nothing. */
export function findMatchingRestartRule(container: Container, exitCode: number): ContainerRestartRule | undefined {
  const found = rulesOf(container).find((rule) => {
    const { operator, values } = rule?.exitCodes ?? {};
    const listed = Array.isArray(values) && values.includes(exitCode);
    if (operator === 'In') return listed;
    return operator === 'NotIn' && !listed;
  });
  return found ?? undefined;
}

/** True when any init or regular container may have the whole pod restarted in place. */
export function hasRestartAllContainersRule(spec: PodSpec | undefined): boolean {
  return [spec?.initContainers, spec?.containers].some((containers) =>
    containers?.some((container) => rulesOf(container).some((rule) => rule?.action === 'RestartAllContainers')),
  );
}

/** A list that no apiserver has checked may be none, and have members that are no rules. */
function rulesOf({ restartPolicyRules }: Container): readonly (ContainerRestartRule | null | undefined)[] {
  return Array.isArray(restartPolicyRules) ? restartPolicyRules : [];
}

/**
 * May this container run again after this exit code? Its own policy comes first, and of that its rules; the pod's policy
 * decides only where the container has none (or an unknown one). A pod policy that is empty or unknown counts as Always.
 */
export function containerShouldRestart(container: Container, podRestartPolicy: string | undefined, exitCode: number): boolean {
  if (!container.restartPolicy) return policyRestarts(podRestartPolicy, exitCode) ?? true;
  const action = findMatchingRestartRule(container, exitCode)?.action;
  if (action === 'Restart' || action === 'RestartAllContainers') return true;
  return policyRestarts(container.restartPolicy, exitCode) ?? policyRestarts(podRestartPolicy, exitCode) ?? true;
}

/** Undefined for a policy this version does not know. */
function policyRestarts(policy: string | undefined, exitCode: number): boolean | undefined {
  if (policy === 'Always') return true;
  if (policy === 'OnFailure') return exitCode !== 0;
  return policy === 'Never' ? false : undefined;
}
