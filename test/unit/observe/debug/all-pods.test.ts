import { describe, expect, it } from 'vitest';
import type { DebugNodeSource, DebugSchedulerSource } from '../../../../src/observe/debug/debug-part.ts';
import { node, pod, schedulerWorld } from '../../scheduler/scheduler-world.ts';
import { numberedPod, settle, testPod } from '../../status/status-harness.ts';
import { DebugHarness } from './debug-harness.ts';

const head = { nodeName: 'n', state: 'running', ready: true, registered: true, notes: [] as string[] };

/** A node whose answers a test changes. */
class ToldNode implements DebugNodeSource {
  told: object = {};
  explained: object = {};

  snapshot(): typeof head {
    return { ...head, ...this.told };
  }

  explain(): object {
    return this.explained;
  }
}

const problem = { kind: 'create-pod', message: 'createPod() failed: no quota', since: 1_000, attempt: 2, retryAt: 9_000 };
const stuck = { podUID: 'stuck', podNamespace: 'ns', podName: 'stuck-pod' };

describe('a pod that only the node knows', () => {
  it('has a row, counts, and is in trouble where the node says so', async () => {
    const node = new ToldNode();
    await using debug = await DebugHarness.start({ node });
    node.told = { podsWithoutStatus: [{ ...stuck, since: 500 }] };
    expect(await debug.snapshot()).toMatchObject({
      summary: { pods: 1, inTrouble: 0, bySync: { unknown: 1 }, byPhase: { none: 1 }, notes: [] },
      pods: [
        { podUID: 'stuck', namespace: 'ns', name: 'stuck-pod', sync: 'unknown', changedAt: 500, knownBy: 'node', version: 0 },
      ],
    });
    node.told = { problems: [{ ...problem, ...stuck }] };
    const { summary, pods } = await debug.snapshot();
    expect(summary).toMatchObject({ pods: 1, inTrouble: 1, notes: [{ ...problem, ...stuck, of: 'node', pods: 1 }] });
    expect(pods).toMatchObject([{ podUID: 'stuck', knownBy: 'node', problem }]);
    expect(pods[0]?.problem).not.toHaveProperty('podUID');
    expect((await debug.ask('/')).body).toMatch(
      /^trouble +! 1 of 1 pod\nnote +ns\/stuck-pod: createPod\(\) failed: no quota; failed twice/,
    );
  });

  it('tells of a call that is under way, beside what the manager knows, and is in no trouble', async () => {
    const node = new ToldNode();
    await using debug = await DebugHarness.start({ node });
    const call = { method: 'createPod', since: 500 };
    const own = debug.h.publish(testPod());
    await debug.h.set(own, { phase: 'Pending' });
    const names = { podUID: own.metadata?.uid ?? '', podNamespace: 'default', podName: 'pod-1' };
    node.told = { callsUnderWay: [{ ...stuck, ...call }, { ...names, ...call, method: 'updatePod' }, 7, { ...stuck, since: 1 }] };
    const { summary, pods } = await debug.snapshot();
    expect(summary).toMatchObject({ pods: 2, inTrouble: 0, notes: [] });
    expect(pods.find(({ podUID }) => podUID === 'stuck')).toMatchObject({ name: 'stuck-pod', underWay: call, changedAt: 500 });
    const row = pods.find(({ podUID }) => podUID === names.podUID);
    expect(row).toMatchObject({ phase: 'Pending', underWay: { method: 'updatePod', since: 500 } });
    expect(row?.problem).toBeUndefined();
    node.explained = { ...stuck, namespace: 'ns', name: 'stuck-pod', underWay: call };
    expect((await debug.pod('stuck')).row).toMatchObject({ underWay: call });
    node.told = { callsUnderWay: [{ ...stuck, ...call }], problems: [{ ...problem, ...stuck }] };
    expect((await debug.snapshot()).pods.find(({ podUID }) => podUID === 'stuck')).toMatchObject({ problem, underWay: call });
  });

  it('is in trouble where the scheduler says so, also while a call of the node is under way', async () => {
    const node = new ToldNode();
    const scheduler = {
      snapshot: () => ({ state: 'running', notes: [], problems: [{ ...problem, ...stuck }] }),
      explain: () => ({}),
    };
    await using debug = await DebugHarness.start({ node, scheduler });
    node.told = { callsUnderWay: [{ ...stuck, method: 'deletePod', since: 500 }] };
    const { pods, summary } = await debug.snapshot();
    expect([summary.inTrouble, pods[0]?.problem, pods[0]?.underWay?.method]).toEqual([1, problem, 'deletePod']);
  });

  it('has a page of its own, which begins with the trouble', async () => {
    const node = new ToldNode();
    await using debug = await DebugHarness.start({ node });
    node.told = { podsWithoutStatus: [stuck] };
    expect((await debug.pod('stuck')).row).toMatchObject({ name: 'stuck-pod', knownBy: 'node' });
    node.told = {};
    expect((await debug.ask('/pods/stuck')).status).toBe(404);
    const others = Array.from({ length: 50 }, (_, n) => ({ ...problem, kind: `k${n}`, message: `sync ${n} failed: ${n}` }));
    node.explained = { namespace: 'ns', name: 'stuck-pod', problem, problems: [problem, ...others] };
    const { row, otherProblems, node: lines } = await debug.pod('stuck');
    expect([row.problem?.kind, otherProblems.length, otherProblems[0]?.kind]).toEqual(['create-pod', 9, 'k0']);
    expect(lines.map(([name]) => name)).toEqual(['namespace', 'name']);
    node.explained = { podUID: 'stuck', namespace: 'ns', name: 'stuck-pod', problem, failure: { at: 1_000 } };
    const text = (await debug.ask('/pods/stuck')).body.split('\n');
    expect(text[0]).toMatch(/^pod +ns\/stuck-pod$/);
    expect(text[1]).toMatch(/^trouble +! createPod\(\) failed: no quota\. It has failed twice, for .*\./);
    expect(text.join('\n')).not.toMatch(/ \d{13}|failure\.at +1000/);
    expect(await debug.pod('stuck')).toMatchObject({ row: { problem }, otherProblems: [] });
  });

  it('shows two problems of one kind, and one that is told twice once', async () => {
    const node = new ToldNode();
    await using debug = await DebugHarness.start({ node });
    const ofImage = (name: string) => ({
      ...problem,
      kind: 'image-not-found',
      message: `the image "${name}" of the container ${name} could not be pulled: ${name}: not found`,
    });
    node.explained = { namespace: 'ns', name: 'stuck-pod', problems: [ofImage('one'), ofImage('two'), ofImage('one')] };
    const { row, otherProblems } = await debug.pod('stuck');
    expect([row.problem, ...otherProblems]).toEqual([ofImage('one'), ofImage('two')]);
  });

  it('keeps the time at which it was first told of, where nobody says since when', async () => {
    const node = new ToldNode();
    await using debug = await DebugHarness.start({ node });
    node.told = { podsWithoutStatus: [stuck] };
    const [first] = (await debug.snapshot()).pods;
    await debug.h.clock.advance(60_000);
    expect((await debug.snapshot()).pods).toEqual([first]);
  });

  it('comes and goes in the stream of changes, and each is told once', async () => {
    const node = new ToldNode();
    await using debug = await DebugHarness.start({ node });
    const reader = await debug.stream();
    expect((await reader.snapshot()).pods).toEqual([]);
    node.told = { problems: [{ ...problem, ...stuck }], podsWithoutStatus: [stuck] };
    await debug.h.clock.advance(250);
    expect(await reader.changes()).toMatchObject({
      changed: [{ podUID: 'stuck', problem }],
      removed: [],
      summary: { inTrouble: 1 },
    });
    // the words of the node count down; nothing has changed
    for (const seconds of [3, 2, 1]) {
      node.told = { ...node.told, notes: [`next try in ${seconds} s`] };
      await debug.h.clock.advance(250);
    }
    node.told = { podsWithoutStatus: [stuck] };
    await debug.h.clock.advance(250);
    const after = await reader.changes();
    expect(after).toMatchObject({ changed: [{ podUID: 'stuck' }], removed: [], summary: { inTrouble: 0 } });
    expect(after.changed[0]).not.toHaveProperty('problem');
    node.told = {};
    await debug.h.clock.advance(250);
    expect(await reader.changes()).toMatchObject({ changed: [], removed: ['stuck'], summary: { pods: 0 } });
  });

  it('is not told again for times that move by less than a second', async () => {
    const node = new ToldNode();
    await using debug = await DebugHarness.start({ node });
    const reader = await debug.stream();
    await reader.snapshot();
    const told = async (change: Partial<typeof problem>): Promise<void> => {
      node.told = { problems: [{ ...problem, ...change, ...stuck }] };
      await debug.h.clock.advance(250);
    };
    await told({});
    expect((await reader.changes()).changed).toMatchObject([{ problem }]);
    await told({ since: 1_400, retryAt: 8_600 });
    await told({ since: 1_999, retryAt: 9_600 });
    // many small steps are one large one
    await told({ retryAt: 10_000 });
    expect((await reader.changes()).changed).toMatchObject([{ problem: { since: 1_000, retryAt: 10_000 } }]);
    await told({ retryAt: 10_000, attempt: 3 });
    expect((await reader.changes()).changed).toMatchObject([{ problem: { attempt: 3 } }]);
  });

  it('becomes a pod of the manager with its first status, and stays in trouble', async () => {
    const node = new ToldNode();
    await using debug = await DebugHarness.start({ node });
    const pod = debug.h.publish(testPod());
    const podUID = pod.metadata?.uid ?? '';
    node.told = { problems: [{ ...problem, podUID, podNamespace: 'new', podName: 'foo' }] };
    const reader = await debug.stream();
    expect((await reader.snapshot()).pods).toMatchObject([{ podUID, knownBy: 'node' }]);
    debug.h.manager.setPodStatus(pod, { phase: 'Running' });
    await debug.h.clock.advance(250);
    const [row] = (await reader.changes()).changed;
    expect(row).toMatchObject({ podUID, version: 1, phase: 'Running', problem });
    expect(row).not.toHaveProperty('knownBy');
    expect((await debug.snapshot()).summary).toMatchObject({ pods: 1, inTrouble: 1 });
  });
});

describe('a pod of which manager and node both tell', () => {
  it('shows the problem of the node first, and the other one beside it', async () => {
    const node = new ToldNode();
    await using debug = await DebugHarness.start({ node });
    const { h } = debug;
    h.client.failNext('patch', { code: 403 });
    const pod = h.publish(testPod());
    const podUID = pod.metadata?.uid ?? '';
    h.manager.setPodStatus(pod, { phase: 'Running' });
    await settle();
    const { pods, summary } = await debug.snapshot();
    expect(pods).toMatchObject([{ podUID, problem: { kind: 'forbidden' } }]);
    expect(summary).toMatchObject({ inTrouble: 1, notes: [{ kind: 'forbidden', of: 'manager', podUID, pods: 1 }] });
    node.told = { problems: [{ ...problem, podUID, podNamespace: 'new', podName: 'foo' }] };
    node.explained = { namespace: 'new', name: 'foo', problem };
    expect((await debug.snapshot()).pods).toMatchObject([{ problem }]);
    // a node may tell what its manager knows first, where that has lasted longer
    const [ofManager] = h.manager.snapshot().problems;
    node.told = { problems: [ofManager, { ...problem, podUID, podNamespace: 'new', podName: 'foo' }] };
    expect((await debug.snapshot()).pods).toMatchObject([{ problem }]);
    const told = await debug.pod(podUID);
    expect([told.row.problem?.kind, told.otherProblems.map(({ kind }) => kind)]).toEqual(['create-pod', ['forbidden']]);
    // the same in other words: the node has made it from what the manager says
    node.explained = {
      ...problem,
      problem: { ...problem, message: `the pod is held up: ${ofManager?.message.split(': ').at(-1)}` },
    };
    expect((await debug.pod(podUID)).otherProblems).toEqual([]);
  });

  it('counts pods of one kind of problem in one note, with the one that has had it longest', async () => {
    const node = new ToldNode();
    await using debug = await DebugHarness.start({ node });
    const of = (n: number) => ({ ...problem, since: 10_000 - n, podUID: `uid-${n}`, podNamespace: 'ns', podName: `pod-${n}` });
    const own = { kind: 'lease', message: 'the Lease is late', attempt: 1 };
    node.told = { problems: [own, own, ...Array.from({ length: 300 }, (_, n) => of(n))] };
    for (const n of [1, 2]) debug.h.manager.setPodStatus(numberedPod(n), {});
    const { summary, pods } = await debug.snapshot();
    expect([pods.length, summary.pods, summary.inTrouble]).toEqual([300, 300, 300]);
    expect(summary.notes).toMatchObject([
      { ...own, of: 'node', pods: 0 },
      { kind: 'create-pod', podUID: 'uid-299', podName: 'pod-299', pods: 300 },
    ]);
    const { body } = await debug.ask('/?trouble');
    expect(body).toContain('note       ns/pod-299: createPod() failed: no quota');
    expect(body).toContain('(300 pods have a problem of this kind)');
  });

  it('notes once what node and manager both say of themselves, and whose it is', async () => {
    const node = new ToldNode();
    await using debug = await DebugHarness.start({ node, harness: { started: false } });
    const [ofManager] = debug.h.manager.snapshot().problems;
    expect((await debug.snapshot()).summary.notes).toEqual([{ ...ofManager, of: 'manager', pods: 0 }]);
    node.told = { problems: [ofManager, ofManager] };
    expect((await debug.snapshot()).summary.notes).toEqual([{ ...ofManager, of: 'node', pods: 0 }]);
  });

  it('has at most twenty notes, however many kinds of problems there are', async () => {
    const node = new ToldNode();
    await using debug = await DebugHarness.start({ node });
    node.told = {
      problems: Array.from({ length: 900 }, (_, n) => ({ ...problem, ...stuck, podUID: `u-${n}`, kind: `kind-${n}` })),
    };
    const { summary } = await debug.snapshot();
    expect([summary.notes.length, summary.inTrouble]).toEqual([20, 900]);
  });
});

describe('a page of a scheduler alone', () => {
  const waiting = { kind: 'unschedulable', message: 'no node fits: 3 Insufficient cpu', since: 1_000, attempt: 3, ...stuck };
  const scheduler: DebugSchedulerSource = {
    snapshot: () => ({
      state: 'running',
      problems: [waiting],
      problemCount: 1,
      notes: [],
      queue: { waiting: 1, lastTryAt: 1_000 },
    }),
    explain: (podUID) =>
      podUID === 'stuck' ? { state: 'waiting', text: 'The pod waits.\n- n: no room' } : { state: 'unknown', text: 'no' },
  };

  it('has rows from its problems, and says of a pod what the scheduler says', async () => {
    await using debug = await DebugHarness.start({ manager: undefined, scheduler });
    const { summary, pods } = await debug.snapshot();
    expect(summary).toMatchObject({ state: 'none', pods: 1, inTrouble: 1, scheduler: { state: 'running', problemCount: 1 } });
    expect(pods).toMatchObject([
      { podUID: 'stuck', name: 'stuck-pod', knownBy: 'scheduler', problem: { kind: 'unschedulable' } },
    ]);
    expect(await debug.pod('stuck')).toMatchObject({ scheduler: 'The pod waits.\n- n: no room', row: { name: 'stuck-pod' } });
    const { body } = await debug.ask('/pods/stuck');
    expect(body).toMatch(/^pod .*\ntrouble +! no node fits: 3 Insufficient cpu\. .*\n/);
    expect(body).toMatch(/^scheduler +The pod waits\.\nscheduler +- n: no room$/m);
    expect((await debug.ask('/pods/other')).status).toBe(404);
    expect((await debug.ask('/')).body).toMatch(/^trouble +! 1 of 1 pod\nnote .*\npods +1\nscheduler +running\n/);
    expect((await debug.ask('/scheduler')).body).toMatch(/^scheduler +running\ntrouble +! ns\/stuck-pod: no node fits/);
    const reader = await debug.stream();
    expect((await reader.snapshot()).pods).toHaveLength(1);
  });

  it('shows a scheduler on which a pod fits nowhere, until it does', async () => {
    const { scheduler: real } = schedulerWorld();
    real.setNode(node('small', '1'));
    real.setPod(pod('web', '4'));
    real.start();
    await real.flush();
    await using debug = await DebugHarness.start({ manager: undefined, scheduler: real });
    expect(await debug.snapshot()).toMatchObject({
      summary: { inTrouble: 1, scheduler: { state: 'running', problemCount: 1 }, notes: [{ of: 'scheduler', podName: 'web' }] },
      pods: [{ podUID: 'uid-web', namespace: 'default', name: 'web', knownBy: 'scheduler' }],
    });
    const { body } = await debug.ask('/pods/uid-web');
    expect(body).toMatch(/^pod +default\/web\ntrouble +! .*Insufficient cpu/);
    expect(body).toMatch(/^scheduler +The pod default\/web /m);
    real.setNode(node('large', '8'));
    await real.flush();
    expect((await debug.snapshot()).summary).toMatchObject({ pods: 0, inTrouble: 0, notes: [], scheduler: { problemCount: 0 } });
    await real.stop();
  });
});
