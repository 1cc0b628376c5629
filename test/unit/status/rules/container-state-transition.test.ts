import { describe, expect, it } from 'vitest';
import type { PodStatus } from '../../../../src/api/json/types.ts';
import type { Container, ContainerRestartRule, PodSpec } from '../../../../src/api/pod/pod-containers.ts';
import { checkContainerStateTransition } from '../../../../src/status/rules/container-state-transition.ts';

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
type State = NonNullable<ContainerStatus['state']>;

const running: State = { running: {} };
const waiting: State = { waiting: {} };
const terminated = (exitCode: number): State => ({ terminated: { exitCode } });

function status(name: string, state?: State): ContainerStatus {
  return { name, image: '', imageID: '', ready: false, restartCount: 0, ...(state && { state }) };
}
const regular = (...containerStatuses: ContainerStatus[]): PodStatus => ({ containerStatuses });
const init = (...initContainerStatuses: ContainerStatus[]): PodStatus => ({ initContainerStatuses });

const reasonOf = (...change: Parameters<typeof checkContainerStateTransition>) =>
  checkContainerStateTransition(...change)?.reason;

type Kind = 'regular' | 'init';
type Setting = Partial<Pick<Container, 'restartPolicy' | 'restartPolicyRules'>>;

function spec(restartPolicy: string | undefined, kind: Kind, setting: Setting = {}): PodSpec {
  const container = { name: 'c', ...setting };
  return {
    ...(restartPolicy !== undefined && { restartPolicy }),
    containers: kind === 'regular' ? [container] : [],
    initContainers: kind === 'init' ? [container] : [],
  };
}

const illegal = {
  regular: 'terminated container c attempted illegal transition to non-terminated state',
  init: 'terminated init container c attempted illegal transition to non-terminated state',
};

/** The result of the check for a container that ended with this code and is now running, waiting or in no state. */
function leave(kind: Kind, podSpec: PodSpec, exitCode: number): string | undefined {
  const list = kind === 'regular' ? regular : init;
  const answers = [running, waiting, {}, undefined].map((state) =>
    reasonOf(list(status('c', terminated(exitCode))), list(status('c', state)), podSpec),
  );
  expect(new Set(answers).size).toBe(1);
  return answers[0];
}

const exitCodes = (action: string, operator: string, ...values: number[]): ContainerRestartRule => ({
  action,
  exitCodes: { operator, values },
});
const restartOn42 = [exitCodes('Restart', 'In', 42)];

describe('checkContainerStateTransition: leaving terminated', () => {
  // pod policy, container-level policy, allowed after 0?, allowed after another code?
  type Cell = [podPolicy: string | undefined, own: string | undefined, afterZero: boolean, afterFailure: boolean];
  const common: Cell[] = [
    ['Always', undefined, true, true],
    ['Always', 'OnFailure', true, true],
    ['Always', 'Never', true, true],
    ['OnFailure', undefined, false, true],
    ['OnFailure', 'OnFailure', false, true],
    ['OnFailure', 'Never', false, true],
    ['OnFailure', 'SomethingNew', false, true],
    ['Never', undefined, false, false],
    ['Never', 'OnFailure', false, true],
    ['Never', 'Never', false, false],
    ['Never', 'SomethingNew', false, false],
    [undefined, undefined, true, true],
    ['', undefined, true, true],
    ['SomethingNew', undefined, true, true],
    [undefined, 'Never', false, false],
    [undefined, 'OnFailure', false, true],
  ];
  const always = ['Always', 'OnFailure', 'Never'].map((podPolicy): Cell => [podPolicy, 'Always', true, true]);
  const own = (restartPolicy: string | undefined): Setting => (restartPolicy === undefined ? {} : { restartPolicy });

  it.each([
    ...common,
    ...always,
  ])('regular: pod %s, container %s: after 0 %s, after 1 %s', (podPolicy, policy, afterZero, afterFailure) => {
    const subject = spec(podPolicy, 'regular', own(policy));
    expect(leave('regular', subject, 0)).toBe(afterZero ? undefined : illegal.regular);
    expect(leave('regular', subject, 1)).toBe(afterFailure ? undefined : illegal.regular);
  });

  it.each(common)('init: pod %s, container %s: after 0 %s, after 1 %s', (podPolicy, policy, afterZero, afterFailure) => {
    const subject = spec(podPolicy, 'init', own(policy));
    expect(leave('init', subject, 0)).toBe(afterZero ? undefined : illegal.init);
    expect(leave('init', subject, 1)).toBe(afterFailure ? undefined : illegal.init);
  });

  it.each(['Always', 'OnFailure', 'Never', undefined])('sidecar: pod %s: always allowed', (podPolicy) => {
    const subject = spec(podPolicy, 'init', { restartPolicy: 'Always' });
    expect(leave('init', subject, 0)).toBeUndefined();
    expect(leave('init', subject, 1)).toBeUndefined();
  });

  describe.each<Kind>(['regular', 'init'])('container-level rules of a %s container', (kind) => {
    type RuleRow = [behaviour: string, rules: ContainerRestartRule[], exitCode: number, allowed: boolean];
    const rows: RuleRow[] = [
      ['In matches a listed code', restartOn42, 42, true],
      ['In does not match another', restartOn42, 41, false],
      ['NotIn matches a code not listed', [exitCodes('Restart', 'NotIn', 42)], 0, true],
      ['NotIn does not match a listed code', [exitCodes('Restart', 'NotIn', 42)], 42, false],
      ['an unknown operator matches nothing', [exitCodes('Restart', 'Near', 42)], 42, false],
      ['a rule without exit codes matches nothing', [{ action: 'Restart' }], 42, false],
      ['the first match decides', [exitCodes('SomethingNew', 'In', 42), ...restartOn42], 42, false],
      ['a rule that does not match is passed over', [exitCodes('SomethingNew', 'In', 1), ...restartOn42], 42, true],
    ];
    it.each(rows)('%s', (_behaviour, restartPolicyRules, exitCode, allowed) => {
      const subject = spec('Never', kind, { restartPolicy: 'Never', restartPolicyRules });
      expect(leave(kind, subject, exitCode)).toBe(allowed ? undefined : illegal[kind]);
    });

    it('count under OnFailure too', () => {
      const subject = spec('OnFailure', kind, { restartPolicy: 'Never', restartPolicyRules: [exitCodes('Restart', 'In', 0)] });
      expect(leave(kind, subject, 0)).toBeUndefined();
    });

    it('do not count without a container-level policy', () => {
      expect(leave(kind, spec('Never', kind, { restartPolicyRules: restartOn42 }), 42)).toBe(illegal[kind]);
    });

    it('that restart all containers allow everything, whatever the code', () => {
      const rule = exitCodes('RestartAllContainers', 'In', 42);
      expect(leave(kind, spec('Never', kind, { restartPolicy: 'Never', restartPolicyRules: [rule] }), 1)).toBeUndefined();
    });
  });
});

describe('checkContainerStateTransition: what is compared', () => {
  const never = spec('Never', 'regular');

  it('allows any change of a container that had not ended', () => {
    for (const before of [running, waiting, {}, undefined]) {
      for (const after of [running, waiting, {}, terminated(1)]) {
        expect(reasonOf(regular(status('c', before)), regular(status('c', after)), never)).toBeUndefined();
        expect(reasonOf(init(status('c', before)), init(status('c', after)), spec('Never', 'init'))).toBeUndefined();
      }
    }
  });

  it('allows another terminated state after a terminated state', () => {
    expect(reasonOf(regular(status('c', terminated(0))), regular(status('c', terminated(1))), never)).toBeUndefined();
  });

  it('allows a container to be missing from the new status', () => {
    expect(reasonOf(regular(status('c', terminated(0))), {}, never)).toBeUndefined();
    expect(reasonOf(init(status('c', terminated(0))), init(), spec('Never', 'init'))).toBeUndefined();
  });

  it('compares containers by name', () => {
    const subject: PodSpec = { restartPolicy: 'Never', containers: [{ name: 'c' }, { name: 'other' }] };
    expect(reasonOf(regular(status('c', terminated(0))), regular(status('other', running)), subject)).toBeUndefined();
  });

  it('compares regular and init containers separately', () => {
    expect(reasonOf(regular(status('c', terminated(0))), init(status('c', running)), never)).toBeUndefined();
  });

  it('finds an illegal change at any place in either list', () => {
    const before = regular(status('a', running), status('c', terminated(0)));
    const after = regular(status('c', running), status('a', running));
    expect(reasonOf(before, after, { restartPolicy: 'Never', containers: [{ name: 'c' }, { name: 'a' }] })).toBe(illegal.regular);
  });

  it('ignores lastState and ephemeral containers', () => {
    const ended = { ...status('c', running), lastState: terminated(0) };
    expect(reasonOf(regular(ended), regular(status('c', running)), never)).toBeUndefined();
    expect(
      reasonOf(
        { ephemeralContainerStatuses: [status('c', terminated(0))] },
        { ephemeralContainerStatuses: [status('c', running)] },
        never,
      ),
    ).toBeUndefined();
  });

  it('applies the pod policy to a regular container that is not in the spec', () => {
    const check = (restartPolicy: string, exitCode: number) =>
      reasonOf(regular(status('c', terminated(exitCode))), regular(status('c', running)), {
        restartPolicy,
        containers: [],
      });
    expect(check('OnFailure', 1)).toBeUndefined();
    expect(check('OnFailure', 0)).toBe(illegal.regular);
    expect(check('', 1)).toBe(illegal.regular);
  });

  it('reports a regular container before an init container', () => {
    const ended = terminated(0);
    expect(
      reasonOf(
        { ...regular(status('r', ended)), ...init(status('i', ended)) },
        { ...regular(status('r', running)), ...init(status('i', running)) },
        { restartPolicy: 'Never', containers: [{ name: 'r' }], initContainers: [{ name: 'i' }] },
      ),
    ).toBe('terminated container r attempted illegal transition to non-terminated state');
  });

  it('allows nothing for a pod without a spec', () => {
    expect(reasonOf(regular(status('c', terminated(1))), regular(status('c', running)), undefined)).toBe(illegal.regular);
  });
});

describe('checkContainerStateTransition: init containers stand in the order of the spec', () => {
  const mismatch = (name: string) => `found mismatch between pod spec and status, container: ${name}`;
  const initSpec = (restartPolicy: string, ...names: string[]): PodSpec => ({
    restartPolicy,
    containers: [],
    initContainers: names.map((name) => ({ name })),
  });

  it('refuses another order, even when no container has ended', () => {
    const old = init(status('b', running), status('a', running));
    expect(reasonOf(old, old, initSpec('Never', 'a', 'b'))).toBe(mismatch('b'));
  });

  it('refuses more statuses than the spec has containers', () => {
    const old = init(status('a', waiting), status('b', waiting));
    expect(reasonOf(old, old, initSpec('OnFailure', 'a'))).toBe(mismatch('b'));
  });

  it('allows fewer statuses than the spec has containers', () => {
    const old = init(status('a', running));
    expect(reasonOf(old, old, initSpec('Never', 'a', 'b'))).toBeUndefined();
  });

  it('does not check the order under restart policy Always', () => {
    const old = init(status('b', running));
    expect(reasonOf(old, old, initSpec('Always', 'a'))).toBeUndefined();
  });
});

describe('the detail of an illegal transition', () => {
  const never = spec('Never', 'init');
  it.each<[string, State | undefined, State]>([
    ['init container c from terminated (exit code 0) to waiting', waiting, terminated(0)],
    [
      'init container c from terminated (exit code 3, Error) to waiting (ContainerCreating)',
      { waiting: { reason: 'ContainerCreating' } },
      { terminated: { exitCode: 3, reason: 'Error' } },
    ],
    ['init container c from terminated (exit code 0) to running', running, terminated(0)],
    ['init container c from terminated (exit code 0) to no state', undefined, terminated(0)],
  ])('names the container and both states: %s', (detail, after, before) => {
    expect(checkContainerStateTransition(init(status('c', before)), init(status('c', after)), never)?.detail).toBe(detail);
  });
});
