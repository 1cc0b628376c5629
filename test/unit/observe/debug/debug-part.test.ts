import { describe, expect, it } from 'vitest';
import {
  askNode,
  askScheduler,
  type DebugNodeSource,
  type DebugSchedulerSource,
  partOf,
} from '../../../../src/observe/debug/debug-part.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { testPod } from '../../status/status-harness.ts';
import { DebugHarness } from './debug-harness.ts';

const head = { nodeName: 'n', state: 'running', ready: true, registered: true, notes: ['a note'] };
const boom = (): never => {
  throw new Error('boom');
};
const bareThrow = (): never => {
  throw Object.create(null);
};
const nodeWith = (parts: object): DebugNodeSource => ({ snapshot: () => head, explain: () => ({}), ...parts });
const schedulerWith = (parts: object): DebugSchedulerSource => ({ snapshot: () => ({}), explain: () => ({}), ...parts });

/** Answers that no part should give. */
const nonsense: readonly [string, () => unknown][] = [
  ['throws', boom],
  ['answers nothing', () => undefined],
  ['answers a promise that rejects', () => Promise.reject(new Error('boom'))],
  ['throws what cannot become text', bareThrow],
  ['answers a promise that rejects with such a thing', () => Promise.reject(Object.create(null))],
  ['answers with members of other kinds', () => ({ nodeName: 1, notes: 'x', ready: 'yes', problems: 7, problemCount: 'many' })],
  ['answers with lists of other kinds', () => ({ notes: [1, {}], problems: [null, 1, 'x', {}, []], podsWithoutStatus: [0, {}] })],
  [
    'answers with members that throw',
    () => ({
      get problems() {
        return boom();
      },
      get text() {
        return boom();
      },
    }),
  ],
  ['answers a list that throws', () => ({ problems: new Proxy([], { get: boom }), notes: new Proxy([], { get: boom }) })],
  ['answers problems that throw', () => ({ problems: [new Proxy({}, { get: boom })], podsWithoutStatus: [{ podUID: 5 }] })],
];

describe('what the handler shows of a node', () => {
  it('is its head, asked for without the pods', async () => {
    const asked: unknown[] = [];
    const node = nodeWith({
      snapshot: (options: object) => {
        asked.push(options);
        return head;
      },
    });
    await using debug = await DebugHarness.start({ node });
    const shown = { name: 'n', state: 'running', ready: true, registered: true, notes: ['a note'], problemCount: 1 };
    expect((await debug.snapshot()).summary.node).toEqual(shown);
    expect(asked).toEqual([{ pods: false }]);
    const { body } = await debug.ask('/');
    expect(body).toContain('note       a note\n');
    expect(body).toContain('node       n running, registered, ready\n');
  });

  it.each([
    ['a provider node', (lastRenewAt: unknown) => ({ lease: { lastRenewAt }, node: {} })],
    ['a node agent', (lastRenewAt: unknown) => ({ node: { lastRenewAt } })],
  ])('is what the server heard last, and since when, where something is wrong with %s itself', async (_what, told) => {
    const clock = new FakeClock();
    const ofPod = { kind: 'k', message: 'a pod fails', attempt: 1, podUID: 'u', podNamespace: 'ns', podName: 'web' };
    const own = { kind: 'lease', message: 'the Lease of the node could not be renewed', attempt: 3 };
    let answer: object = {};
    await using debug = await DebugHarness.start({ node: nodeWith({ snapshot: () => answer }), clock });
    const say = async (renewedAt: unknown, ...problems: object[]) => {
      answer = { ...head, notes: [], problems, ...told(renewedAt) };
      const { body } = await debug.ask('/');
      return body.split('\n').find((line) => line.startsWith('node '));
    };
    const words = 'node       n running, registered, ready';
    const at = clock.now() - 42_000;
    expect(await say(at, own)).toBe(`${words}, last heard of by the server 42 s ago`);
    expect((await debug.snapshot()).summary.node).toMatchObject({ ready: true, heardAt: at });
    expect([await say(at), await say(at, ofPod), await say('x', own), await say(undefined, own)]).toEqual(Array(4).fill(words));
  });

  it('counts in the summary: its problems that are no pod’s, and those of the scheduler, each once', async () => {
    const ofPod = { kind: 'k', message: 'a pod fails', attempt: 1, podUID: 'u', podNamespace: 'ns', podName: 'web' };
    const own = ['the node object is not registered', 'no pods'].map((message) => ({ kind: 'own', message, attempt: 1 }));
    const node = nodeWith({ snapshot: () => ({ ...head, problems: [...own, ofPod] }) });
    const scheduler = schedulerWith({ snapshot: () => ({ state: 'idle', problems: [own[0], { ...own[0], message: 'idle' }] }) });
    await using debug = await DebugHarness.start({ node, scheduler });
    expect((await debug.snapshot()).summary).toMatchObject({ inTrouble: 1, ownProblems: { node: 2, scheduler: 1 } });
    const { body } = await debug.ask('/');
    expect(body.split('\n')[0]).toMatch(/^trouble {4}! 2 problems of the node, 1 problem of the scheduler, .*1 of 1 pod$/);
  });

  it('says nothing of a Node object where an agent has none, and says whether its pods are listed', async () => {
    let hasListed = false;
    const agent = nodeWith({ snapshot: () => ({ nodeName: 'n', state: 'running', hasListed, notes: [] }) });
    await using debug = await DebugHarness.start({ node: agent });
    const { node } = (await debug.snapshot()).summary;
    expect(node).toEqual({ name: 'n', state: 'running', hasListed: false, notes: [], problemCount: 0 });
    expect((await debug.ask('/')).body).toContain('node       n running, its pods are not listed\n');
    hasListed = true;
    expect((await debug.ask('/')).body).toContain('node       n running, its pods are listed\n');
  });

  it('says of when an agent without a Node object has its pods, while something is wrong with the agent itself', async () => {
    const clock = new FakeClock();
    const ofPod = { kind: 'k', message: 'a pod fails', attempt: 1, podUID: 'u', podNamespace: 'ns', podName: 'web' };
    const own = { kind: 'unreachable', message: 'the source "api" cannot be read', attempt: 3 };
    const told = { nodeName: 'n', state: 'running', hasListed: true, notes: [], lastObservedAt: clock.now() - 42_000 };
    let answer: object = {};
    await using debug = await DebugHarness.start({ node: nodeWith({ snapshot: () => answer as never }), clock });
    const say = async (more: object) => {
      answer = { ...told, ...more };
      return (await debug.ask('/')).body.split('\n').find((line) => line.startsWith('node '));
    };
    const words = 'node       n running, its pods are listed';
    expect(await say({ problems: [own] })).toBe(`${words} as the server had them 42 s ago`);
    expect(await say({ problems: [own], hasListed: false })).toBe('node       n running, its pods are not listed');
    expect([await say({ problems: [ofPod] }), await say({ problems: [] })]).toEqual([words, words]);
    expect(await say({ problems: [own], lastObservedAt: 'x' })).toBe(words);
  });

  it('is what it says of a pod, one line for each value, without what is shown elsewhere', async () => {
    const at = Date.UTC(2026, 0, 1);
    const explain = (podUID: string) => ({
      podUID,
      status: { phase: 'in-sync' },
      problem: undefined,
      worker: { state: 'sync', next: { syncAt: at, deep: { deeper: 1 } } },
      failure: { at, since: at, until: at, retryInMs: 6_000, attempt: 2 },
      changeSince: at,
      held: true,
      nothing: null,
      list: ['a', { b: 1 }, { name: 'named', lastSeenAt: at }],
      call: boom,
    });
    await using debug = await DebugHarness.start({ node: nodeWith({ explain }) });
    debug.h.manager.setPodStatus(testPod(), {});
    const time = '2026-01-01T00:00:00.000Z';
    expect((await debug.pod('12345678')).node).toEqual([
      ['podUID', '12345678'],
      ['worker.state', 'sync'],
      ['worker.next.syncAt', time],
      ['failure.at', time],
      ['failure.since', time],
      ['failure.until', time],
      ['failure.retryInMs', '6.0 s'],
      ['failure.attempt', '2'],
      ['changeSince', time],
      ['held', 'true'],
      ['list.0', 'a'],
      ['list.1.b', '1'],
      ['list.named.lastSeenAt', time],
    ]);
  });

  it('is nothing without a node', async () => {
    expect([askNode(undefined), askScheduler(undefined)]).toEqual([undefined, undefined]);
    await using debug = await DebugHarness.start();
    for (const path of ['/node', '/api/node', '/scheduler', '/api/scheduler']) expect((await debug.ask(path)).status).toBe(404);
  });

  it('has a page of its own: problems before all else, then what each part did last', async () => {
    const lease = { lastRenewAt: Date.UTC(2026, 0, 1) };
    const problems = [
      { kind: 'k', message: 'a pod fails', attempt: 1, podUID: 'u', podNamespace: 'ns', podName: 'web' },
      { kind: 'lease', message: 'the Lease is late', attempt: 2 },
    ];
    const node = nodeWith({ snapshot: () => ({ ...head, lease, problems, problemCount: 12, pods: [{ a: 1 }] }) });
    await using debug = await DebugHarness.start({ node });
    const part = JSON.parse((await debug.ask('/api/node')).body);
    expect(part).toMatchObject({ kind: 'node', name: 'n', state: 'running', problemCount: 12 });
    expect(part.problems.map(({ kind }: { kind: string }) => kind)).toEqual(['lease', 'k']);
    expect(part.lines).toContainEqual(['lease.lastRenewAt', '2026-01-01T00:00:00.000Z']);
    expect(part.lines.map(([name]: [string]) => name).join()).not.toMatch(/pods|problem|notes/);
    const text = await debug.ask('/node');
    expect(text.body.split('\n').slice(0, 4).join('\n')).toMatch(
      /^node +n running\ntrouble +! the Lease is late\. .*\ntrouble +! ns\/web: a pod fails\.\ntrouble +and 10 more$/,
    );
    expect(await debug.ask('/node', { headers: { accept: 'text/html' } })).toMatchObject({ status: 302 });
  });

  it.each(nonsense)('costs nothing else when a node or a scheduler %s', async (_, answer) => {
    const parts = { snapshot: answer, explain: answer };
    await using debug = await DebugHarness.start({ node: nodeWith(parts), scheduler: schedulerWith(parts) });
    debug.h.manager.setPodStatus(testPod(), {});
    const { summary } = await debug.snapshot();
    expect([summary.pods, summary.node?.ready, summary.node?.registered]).toEqual([1, false, false]);
    expect([summary.node?.state, summary.scheduler?.state]).toEqual(['unknown', 'unknown']);
    expect((await debug.pod('12345678')).row.version).toBe(1);
    for (const path of ['/', '/node', '/scheduler', '/pods/12345678', '/api/node'])
      expect((await debug.ask(path)).status).toBe(200);
  });

  it('is that it gives no answer, where it gives none: that is a problem, and never well', () => {
    for (const answer of [boom, () => undefined, () => Promise.reject(new Error('boom'))]) {
      const told = askNode(nodeWith({ snapshot: answer }));
      expect(told).toMatchObject({ state: 'unknown', isReady: false, problemCount: 1, problems: [{ kind: 'no-answer' }] });
    }
    expect(askNode(nodeWith({ snapshot: boom }))?.problems[0]?.message).toBe('the node cannot be asked: boom');
  });

  it('has an end, however much the node says', () => {
    const long = 'x'.repeat(10_000);
    const endless: Record<string, unknown> = { text: long };
    for (let i = 0; i < 1_000; i++) endless[`${long}${i}`] = i;
    endless.self = endless;
    const problem = { kind: long, message: long, help: long, attempt: 1, podUID: 'u', podNamespace: long, podName: long };
    const many = {
      problems: Array(20_000).fill(problem),
      notes: Array(20_000).fill(long),
      podsWithoutStatus: Array(20_000).fill(problem),
    };
    const told = askNode(nodeWith({ snapshot: () => ({ ...endless, ...many, nodeName: long, state: long }) }));
    if (told === undefined) throw new Error('the node was asked');
    expect([told.problems.length, told.podsWithoutStatus.length, told.notes.length]).toEqual([1_000, 1_000, 20]);
    expect(told.problemCount).toBe(1_000);
    const part = partOf(told, 0);
    expect([part.problems.length, part.lines.length]).toEqual([100, 60]);
    expect(JSON.stringify(part).length).toBeLessThan(100 * 2_000 + 60 * 700);
    expect(JSON.stringify(told.problems[0]).length).toBeLessThan(2_000);
  });
});
