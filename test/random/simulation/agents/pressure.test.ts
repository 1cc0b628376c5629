import { describe, expect, it } from 'vitest';
import { CalmNode } from './calm-node.ts';

/** More than any machine has: the node runs short from the agent's first look on. */
const evictionHard = { 'memory.available': '1000000Ti' };

describe('a node agent whose node runs short of memory', () => {
  it('evicts one pod after the other but for critical ones, says why, and refuses others', async () => {
    const node = await CalmNode.open({ agent: () => ({ evictionHard }) });
    const phaseOf = (name: string, namespace?: string): string | undefined => node.pod(name, namespace)?.status?.phase;
    node.begin();
    await node.advance(1000);
    const priorityClassName = 'system-node-critical';
    node.create('critical', { priority: 2_000_000_000, priorityClassName }, { namespace: 'kube-system' });
    // who tolerates the pressure is taken all the same, and is evicted then
    for (const name of ['a', 'b']) node.create(name, { tolerations: [{ operator: 'Exists' }] });
    node.create('refused', {});
    await node.until(() => node.isRunning('a') && node.isRunning('b'), 5000);
    await node.until(() => phaseOf('a') === 'Failed' && phaseOf('b') === 'Failed');
    for (const name of ['a', 'b']) {
      const message = expect.stringMatching(/^The node was low on resource: memory\./);
      expect(node.pod(name)?.status).toMatchObject({ reason: 'Evicted', message });
      // events are written one after another, those of the node as well
      await node.until(() => node.events(name).join('\n').includes('Warning Evicted: The node was low on resource: memory.'));
    }
    const message = 'Pod was rejected: The node had condition: [MemoryPressure]. ';
    expect(node.pod('refused')?.status).toMatchObject({ phase: 'Failed', reason: 'Evicted', message });
    await node.advance(60_000);
    expect(phaseOf('critical', 'kube-system')).toBe('Running');
    expect(node.ledger.running().map(({ podUID }) => podUID)).toEqual([node.pod('critical', 'kube-system')?.metadata?.uid]);
    expect(node.agent.nodeObject.node?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'MemoryPressure', status: 'True' }),
    );
    expect(node.wrong).toEqual([]);
  });
});
