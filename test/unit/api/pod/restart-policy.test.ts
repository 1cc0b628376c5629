import { describe, expect, it } from 'vitest';
import {
  type Container,
  containerShouldRestart,
  findMatchingRestartRule,
  hasRestartAllContainersRule,
  isRestartableInitContainer,
} from '../../../../src/api/pod/pod-containers.ts';

const rule = (action: string) => ({ action, exitCodes: { operator: 'In', values: [42] } });
const container: Container = { name: 'c', restartPolicy: 'Never', restartPolicyRules: [rule('RestartAllContainers')] };

describe('containerShouldRestart', () => {
  it('restarts a container whose exit restarts all containers', () => {
    expect(containerShouldRestart(container, 'Never', 42)).toBe(true);
    expect(containerShouldRestart(container, 'Always', 1)).toBe(false);
  });

  it('falls back to the pod policy for a container policy it does not know', () => {
    expect(containerShouldRestart({ name: 'c', restartPolicy: 'New' }, 'OnFailure', 1)).toBe(true);
    expect(containerShouldRestart({ name: 'c', restartPolicy: 'New' }, 'OnFailure', 0)).toBe(false);
  });
});

describe('findMatchingRestartRule', () => {
  it('finds the first rule that speaks of the exit code', () => {
    const rules = [rule('first'), rule('second')];
    expect(findMatchingRestartRule({ name: 'c', restartPolicyRules: rules }, 42)).toBe(rules[0]);
    expect(findMatchingRestartRule({ name: 'c', restartPolicyRules: rules }, 0)).toBeUndefined();
    expect(findMatchingRestartRule({ name: 'c' }, 42)).toBeUndefined();
  });
});

describe('hasRestartAllContainersRule', () => {
  it('looks at init and regular containers', () => {
    expect(hasRestartAllContainersRule({ containers: [container] })).toBe(true);
    expect(hasRestartAllContainersRule({ containers: [], initContainers: [container] })).toBe(true);
    expect(hasRestartAllContainersRule({ containers: [{ name: 'c', restartPolicyRules: [rule('Restart')] }] })).toBe(false);
    expect(hasRestartAllContainersRule(undefined)).toBe(false);
  });
});

describe('isRestartableInitContainer', () => {
  it('is true for the policy Always alone', () => {
    expect(isRestartableInitContainer({ name: 's', restartPolicy: 'Always' })).toBe(true);
    expect(isRestartableInitContainer({ name: 's', restartPolicy: 'OnFailure' })).toBe(false);
    expect(isRestartableInitContainer({ name: 's' })).toBe(false);
  });
});
