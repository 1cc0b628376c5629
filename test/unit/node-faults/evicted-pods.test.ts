import { describe, expect, it } from 'vitest';
import { checkEvidence, type Damage } from '../../real/node/faults/check.ts';
import { evictionRules } from '../../real/node/faults/evicted-pods.ts';
import { type Eviction, type Evidence, type PodEvidence, parseWitness } from '../../real/node/faults/evidence.ts';

const full = { from: 30, to: 50 };
const low = 'The node was low on resource: ephemeral-storage. Threshold quantity: 671088, available: 0. ';
const pressure = 'The node had condition: [DiskPressure]. ';
const eviction: Eviction = { at: 41, phase: 'Failed', message: low, isDisruption: true, events: [low] };
const refusal: Eviction = {
  ...{ at: 45, phase: 'Failed', isDisruption: false },
  ...{ message: `Pod was rejected: ${pressure}`, events: [pressure] },
};

/** A pod that was evicted as it should be. */
function evicted(more: Partial<PodEvidence> = {}): PodEvidence {
  return {
    ...{ uid: 'u', name: 'p', kind: 'steady', restarts: true, createdAt: 9, runningWhenGone: 0, leftovers: [] },
    ...{ containers: [{ name: 'main', isInit: false, beats: -1, exitCode: 0 }], runningAtEnd: [], eviction },
    witness: { main: parseWitness('start r1 10\nend r1 40 term\n') },
    final: { phase: 'Failed', containers: { main: { restartCount: 0, ready: false, state: 'terminated', exitCode: 0 } } },
    ...more,
  };
}

/** A pod that was refused as it should be. */
function refused(more: Partial<PodEvidence> = {}): PodEvidence {
  return evicted({ createdAt: 44, eviction: refusal, witness: {}, final: { phase: 'Failed', containers: {} }, ...more });
}

function damageOf(pod: PodEvidence, more: Partial<Evidence> = {}): Damage[] {
  const nothing = { injuries: [], agentKills: [], runtimeAways: [], secretsLeft: [], pressureSeconds: 10 };
  return checkEvidence({ pods: [pod], ...nothing, fullDisks: [full], ...more });
}

const found = (pod: PodEvidence, more?: Partial<Evidence>): string[] => damageOf(pod, more).map(({ rule }) => rule);
const ran = (text: string): Partial<PodEvidence> => ({ witness: { main: parseWitness(text) } });

describe('the checker of evictions', () => {
  it('finds nothing in pods that were evicted or refused while the disk was full', () => {
    expect(found(evicted())).toEqual([]);
    expect(found(refused())).toEqual([]);
    // one that was deleted later
    const { final: _final, ...rest } = evicted({ deletedAt: 80, goneAt: 81 });
    expect(found(rest)).toEqual([]);
    // one whose container never ran, and one that waited for its next run
    expect(found(evicted(ran('')))).toEqual([]);
    expect(found(evicted({ kind: 'crashing', ...ran('start r1 10\nend r1 20 0\n') }))).toEqual([]);
  });

  const late = { ...eviction, at: 200 };
  const reason = 'a pod is evicted for no reason';
  const untold = 'an eviction is not told in full';
  const goesOn = 'an evicted pod goes on';
  const falsified: [string, string, PodEvidence, Partial<Evidence>?][] = [
    [reason, 'the disk was full much earlier', evicted({ eviction: late })],
    [reason, 'it is not the disk', evicted({ eviction: { ...eviction, message: 'low on memory', events: ['low on memory'] } })],
    [reason, 'it was over', evicted({ kind: 'batch', restarts: false, ...ran('start r1 10\nend r1 20 0\n') })],
    [reason, 'it was made before', refused({ createdAt: 15 })],
    [reason, 'it was made long after', refused({ createdAt: 76, eviction: { ...refusal, at: 77 } })],
    [reason, 'it ran', refused(ran('start r1 42\nend r1 44 term\n'))],
    [
      reason,
      'it is not the pressure of the disk',
      refused({ eviction: { ...refusal, message: 'Pod was rejected: no', events: ['no'] } }),
    ],
    [untold, 'no event', evicted({ eviction: { ...eviction, events: [] } })],
    [untold, 'an event with other words', evicted({ eviction: { ...eviction, events: [pressure] } })],
    [
      untold,
      'an agent that was killed later explains no missing event',
      evicted({ eviction: { ...eviction, events: [] } }),
      { agentKills: [60] },
    ],
    [untold, 'no condition', evicted({ eviction: { ...eviction, isDisruption: false } })],
    [untold, 'another phase', evicted({ eviction: { ...eviction, phase: 'Running' } })],
    [untold, 'no event of a refusal', refused({ eviction: { ...refusal, events: [] } })],
  ];
  it.each(falsified)('notices: %s (%s)', (rule, _what, pod, more) => {
    expect(found(pod, more)).toEqual([rule]);
  });

  it('excuses a missing event by an agent that was killed right after it', () => {
    expect(found(evicted({ eviction: { ...eviction, events: [] } }), { agentKills: [45] })).toEqual([]);
  });

  it('notices a pod that is told to be evicted though the disk was never full, and one that runs on', () => {
    expect(found(evicted(), { fullDisks: [] })).toEqual(['a container is stopped for no reason', reason]);
    const running = { phase: 'Failed', containers: { main: { restartCount: 0, ready: true, state: 'running' as const } } };
    const on = evicted({ runningAtEnd: ['main'], ...ran('start r1 10\nbeat r1 90\n'), final: running });
    expect(found(on)).toEqual([reason, goesOn]);
  });

  it('notices a container that runs again after the eviction, also one that had ended by itself', () => {
    const told = (lastExitCode: number) => ({
      phase: 'Failed',
      containers: { main: { restartCount: 1, ready: false, state: 'terminated' as const, exitCode: 0, lastExitCode } },
    });
    const crashing = { kind: 'crashing' as const, final: told(3) };
    expect(found(evicted({ ...crashing, ...ran('start r1 10\nend r1 35 3\nstart r2 45\nend r2 46 term\n') }))).toEqual([goesOn]);
    const stopped = evicted({ final: told(0), ...ran('start r1 10\nend r1 40 term\nstart r2 40.5\nend r2 40.9 term\n') });
    expect(found(stopped)).toEqual(['a container is started again for no reason']);
  });

  it('notices a phase that is not Failed', () => {
    expect(found(evicted({ final: { phase: 'Running', containers: evicted().final?.containers ?? {} } }))).toEqual([
      'a status is untrue',
    ]);
  });

  it('excuses ends that nobody tells of only where the agent was killed before it could', () => {
    const { eviction: _eviction, ...forgotten } = evicted({
      ...{ runningAtEnd: ['main'], ...ran('start r1 10\nend r1 40 term\nstart r2 44\nbeat r2 90\n') },
      final: { phase: 'Running', containers: { main: { restartCount: 1, ready: true, state: 'running', lastExitCode: 0 } } },
    });
    // the second run lasts until the end, and so the disk had to evict somebody else
    const short = { fullDisks: [{ from: 36, to: 42 }] };
    expect(found(forgotten, { agentKills: [41], ...short })).toEqual([]);
    expect(found(forgotten, { agentKills: [70], ...short })).toEqual(['a container is started again for no reason']);
    expect(found(forgotten, { agentKills: [41], fullDisks: [{ from: 10, to: 20 }] })).toEqual([
      'a container is started again for no reason',
    ]);
  });

  it('wants a pod to go when the disk is full for long', () => {
    const { eviction: _eviction, ...rest } = evicted({
      ...{ runningAtEnd: ['main'], ...ran('start r1 10\nbeat r1 90\n') },
      final: { phase: 'Running', containers: { main: { restartCount: 0, ready: true, state: 'running' } } },
    });
    expect(found(rest)).toEqual(['a full disk evicts nobody']);
    expect(found(rest, { fullDisks: [{ from: 30, to: 40 }] })).toEqual([]);
    const another = { pods: [rest, evicted()] };
    expect(found(rest, another)).toEqual([]);
    // an earlier eviction is none of this disk
    expect(
      found(rest, {
        ...another,
        fullDisks: [
          { from: 30, to: 40 },
          { from: 60, to: 80 },
        ],
      }),
    ).toEqual(['a full disk evicts nobody']);
    // nobody was there all the time
    expect(found(evicted({ ...rest, eviction: undefined as never, deletedAt: 40, goneAt: 41 }))).not.toContain(
      'a full disk evicts nobody',
    );
  });

  it('is tried on every rule', () => {
    const tried = new Set([...falsified.map(([rule]) => rule), goesOn, 'a full disk evicts nobody']);
    expect(tried).toEqual(new Set(evictionRules));
  });
});
