import { describe, expect, it } from 'vitest';
import { type DebugNodeSource, debugNode, linesOf } from '../../../../src/observe/debug/debug-node.ts';
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
    const shown = { name: 'n', state: 'running', ready: true, registered: true, notes: ['a note'] };
    expect((await debug.snapshot()).summary.node).toEqual(shown);
    expect(asked).toEqual([{ pods: false }]);
    expect((await debug.ask('/')).body).toContain('node       n running, registered, ready\nnote       a note\n');
  });

  it('is what it says of a pod, one line for each value, without the status manager’s own words', async () => {
    const explain = (podUID: string) => ({
      podUID,
      status: { phase: 'in-sync' },
      worker: { state: 'sync', next: { syncAt: Date.UTC(2026, 0, 1), deep: { deeper: 1 } } },
      changeSince: Date.UTC(2026, 0, 1),
      held: true,
      failure: undefined,
      nothing: null,
      list: ['a', { b: 1 }],
      call: boom,
    });
    await using debug = await DebugHarness.start({ node: nodeWith({ explain }) });
    debug.h.manager.setPodStatus(testPod(), {});
    expect((await debug.pod('12345678')).node).toEqual([
      ['podUID', '12345678'],
      ['worker.state', 'sync'],
      ['worker.next.syncAt', '2026-01-01T00:00:00.000Z'],
      ['changeSince', '2026-01-01T00:00:00.000Z'],
      ['held', 'true'],
      ['list.0', 'a'],
      ['list.1.b', '1'],
    ]);
  });

  it('is nothing without a node', () => {
    expect([debugNode(undefined), linesOf(undefined, 'u')]).toEqual([undefined, []]);
  });

  it.each([
    ['throws', boom],
    ['answers nothing', () => undefined],
    ['answers a promise that rejects', () => Promise.reject(new Error('boom'))],
    ['throws what cannot become text', bareThrow],
    ['answers a promise that rejects with such a thing', () => Promise.reject(Object.create(null))],
    ['answers with members of other kinds', () => ({ nodeName: 1, notes: 'x', ready: 'yes' })],
  ])('costs nothing else when the node %s', async (_, answer) => {
    await using debug = await DebugHarness.start({ node: nodeWith({ snapshot: answer, explain: answer }) });
    debug.h.manager.setPodStatus(testPod(), {});
    const { summary } = await debug.snapshot();
    expect([summary.pods, summary.node?.ready, summary.node?.registered]).toEqual([1, false, false]);
    expect((await debug.pod('12345678')).row.version).toBe(1);
    expect((await debug.ask('/')).status).toBe(200);
  });

  it('has an end, however much the node says', () => {
    const endless: Record<string, unknown> = { text: 'x'.repeat(10_000) };
    for (let i = 0; i < 1_000; i++) endless[`k${i}`] = i;
    endless.self = endless;
    const lines = linesOf(nodeWith({ explain: () => endless }), 'u');
    expect(lines.length).toBe(60);
    expect(lines[0]?.[1].length).toBe(500);
  });
});
