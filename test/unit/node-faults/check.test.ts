import { describe, expect, it } from 'vitest';
import { checkEvidence, rules } from '../../real/node/faults/check.ts';
import { evictionRules } from '../../real/node/faults/evicted-pods.ts';
import { type Evidence, type PodEvidence, parseWitness } from '../../real/node/faults/evidence.ts';

const beating = 'start r1 10.00\nbeat r1 10.50\nbeat r1 90.00\n';

function pod(more: Partial<PodEvidence> = {}): PodEvidence {
  return {
    ...{ uid: 'u', name: 'p', kind: 'steady', restarts: true, createdAt: 9, runningWhenGone: 0, leftovers: [] },
    containers: [{ name: 'main', isInit: false, beats: -1, exitCode: 0 }],
    witness: { main: parseWitness(beating) },
    runningAtEnd: ['main'],
    final: { phase: 'Running', containers: { main: { restartCount: 0, ready: true, state: 'running' } } },
    ...more,
  };
}

function evidenceOf(pods: readonly PodEvidence[], more: Partial<Evidence> = {}): Evidence {
  const nothing = { injuries: [], agentKills: [], runtimeAways: [], fullDisks: [], secretsLeft: [] };
  return { pods, ...nothing, pressureSeconds: 300, ...more };
}

function found(one: PodEvidence, more: Partial<Evidence> = {}): string[] {
  return checkEvidence(evidenceOf([one], more)).map(({ rule }) => rule);
}

const told = (restartCount: number, more: object = {}) => ({
  phase: 'Running',
  containers: { main: { restartCount, ready: true, state: 'running' as const, ...more } },
});
const twoRuns = (end: string) => ({ main: parseWitness(`start r1 10.00\n${end}start r2 50.00\nbeat r2 90.00\n`) });

describe('the checker of the fault suite', () => {
  it('finds nothing in what is as it should be', () => {
    expect(found(pod())).toEqual([]);
    const crashed = { kind: 'crashing' as const, witness: twoRuns('end r1 11.00 7\n'), final: told(1, { lastExitCode: 7 }) };
    expect(found(pod(crashed))).toEqual([]);
    const injured = pod({ witness: twoRuns('beat r1 20.00\n'), final: told(1, { lastExitCode: 137 }) });
    expect(found(injured, { injuries: [{ podUID: 'u', container: 'main', at: 20.1 }] })).toEqual([]);
    const done = {
      restarts: false,
      kind: 'batch' as const,
      runningAtEnd: [],
      witness: { main: parseWitness('start r1 1\nend r1 2 0\n') },
    };
    const succeeded = {
      phase: 'Succeeded',
      containers: { main: { restartCount: 0, ready: false, state: 'terminated' as const, exitCode: 0 } },
    };
    expect(found(pod({ ...done, final: succeeded }))).toEqual([]);
    const { final: _final, ...rest } = pod();
    expect(
      found({
        ...rest,
        deletedAt: 50,
        goneAt: 51,
        runningAtEnd: [],
        witness: { main: parseWitness('start r1 1\nend r1 50.5 term\n') },
      }),
    ).toEqual([]);
  });

  it('grants one count more for each kill of the agent, and no more', () => {
    expect(found(pod({ final: told(1) }), { agentKills: [20] })).toEqual([]);
    expect(found(pod({ final: told(2) }), { agentKills: [20, 5] })).toEqual(['an end is told other than once']);
  });

  it('excuses containers of a pod whose agent was killed where the runtime keeps the task of one, and nothing else', () => {
    const leftovers = ['container a, whose task is STOPPED', 'container sandbox'];
    expect(found(pod({ leftovers }), { agentKills: [20] })).toEqual([]);
    const rule = 'something of a pod is left over';
    expect(found(pod({ leftovers }), { agentKills: [5] })).toEqual([rule, rule]);
    expect(found(pod({ leftovers: [...leftovers, 'cgroup c'] }), { agentKills: [20] })).toEqual([rule]);
    expect(found(pod({ leftovers: ['container a', 'container sandbox'] }), { agentKills: [20] })).toEqual([rule, rule]);
    const pods = Array.from({ length: 5 }, () => pod({ leftovers }));
    expect(found(pod(), { pods, agentKills: [20] })).toContain(rule);
    expect(found(pod(), { pods, agentKills: [20, 30] })).toEqual([]);
  });

  const injuries = [{ podUID: 'u', container: 'main', at: 30 }];
  const falsified: [(typeof rules)[number], PodEvidence, Partial<Evidence>?][] = [
    [
      'a container runs twice at once',
      pod({ witness: { main: parseWitness('start r1 10\nbeat r1 60\nstart r2 50\nbeat r2 90\n') }, final: told(1) }),
      { injuries },
    ],
    ['a container is started again for no reason', pod({ witness: twoRuns('end r1 30.00 term\n'), final: told(1) })],
    ['a container is stopped for no reason', pod({ runningAtEnd: [], final: told(0, { state: 'waiting', ready: false }) })],
    [
      'a container is stopped for no reason',
      pod({ runningAtEnd: [], deletedAt: 50, goneAt: 51, witness: { main: parseWitness('start r1 1\nend r1 20 term\n') } }),
    ],
    ['an end is told other than once', pod({ witness: twoRuns('end r1 11.00 7\n'), final: told(0, { lastExitCode: 7 }) })],
    ['an end is told other than once', pod({ witness: twoRuns('end r1 11.00 7\n'), final: told(2, { lastExitCode: 7 }) })],
    ['an end is told other than once', pod({ witness: twoRuns('end r1 11.00 7\n'), final: told(1, { lastExitCode: 8 }) })],
    ['a status is untrue', pod({ final: told(0, { ready: false }) })],
    ['a status is untrue', pod({ final: { ...told(0), phase: 'Pending' } })],
    ['a pod lives on after it is gone', pod({ runningWhenGone: 1 })],
    ['a deleted pod does not go', pod({ deletedAt: 30 })],
    ['something of a pod is left over', pod({ leftovers: ['cgroup'] })],
    ['a volume is emptied while mounted', pod({ witness: { main: parseWitness(`${beating}lost r1 90.01 scratch\n`) } })],
    ['a secret outlives its pod', pod(), { secretsLeft: ['/var/lib/kubelet/pods/u/token'] }],
  ];

  it.each(falsified)('notices: %s', (rule, one, more) => {
    expect(found(one, more)).toEqual([rule]);
  });

  const ofEvictions = new Set<string>(evictionRules);
  it('is tried on every rule but those of evictions', () => {
    expect(new Set(falsified.map(([rule]) => rule))).toEqual(new Set(rules.filter((rule) => !ofEvictions.has(rule))));
  });

  it('notices a pod that is not there, one that was to run once only and ran twice, and an init container that ran again', () => {
    const { final: _final, ...missing } = pod();
    expect(found(missing)).toEqual(['a status is untrue']);
    const again = pod({ restarts: false, witness: twoRuns('end r1 11.00 0\n'), final: told(1, { lastExitCode: 0 }) });
    expect(found(again)).toEqual(['a container is started again for no reason']);
    const init = { name: 'main', isInit: true, beats: 1, exitCode: 0 };
    expect(found({ ...again, restarts: true, containers: [init] })).toEqual(['a container is started again for no reason']);
  });

  it('accepts either phase of a pod that runs once and was asked to end as its machine went down, and of no other', () => {
    const of = (how: string, phase: string) =>
      pod({
        ...{ restarts: false, kind: 'batch', runningAtEnd: [] },
        witness: { main: parseWitness(`start r1 10\nend r1 30 ${how}\n`) },
        final: {
          phase,
          containers: { main: { restartCount: 0, ready: false, state: 'terminated', exitCode: Number(how) || 0 } },
        },
      });
    const down = { injuries: [{ podUID: 'u', at: 29 }] };
    for (const phase of ['Succeeded', 'Failed']) expect(found(of('term', phase), down)).toEqual([]);
    expect(found(of('term', 'Running'), down)).toEqual(['a status is untrue']);
    expect(found(of('3', 'Succeeded'), down)).toEqual(['a status is untrue']);
  });

  it('reads what was written to the end, and leaves out a line that was cut off', () => {
    expect(parseWitness('start r1 1.00\nend r1 2.00 3\nbe')).toEqual([
      { what: 'start', run: 'r1', at: 1 },
      { what: 'end', run: 'r1', at: 2, how: '3' },
    ]);
  });
});
