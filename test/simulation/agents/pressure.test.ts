import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../src/index.ts';
import { CalmNode } from './calm-node.ts';

/** More than any machine has: the node runs short from its first look on. */
const tooMuch = { 'memory.available': '1000000Ti' };

describe('a node agent whose node runs short of memory', () => {
  it('evicts one pod after the other but for critical ones, says why, and takes no more such pods', async () => {
    const evictionHard: Record<string, string> = {};
    const node = await CalmNode.open({ agent: () => ({ evictionHard }) });
    node.begin();
    for (const name of ['a', 'b']) node.create(name, {});
    node.create('critical', { priority: 2_000_000_000, priorityClassName: 'system-node-critical' }, { namespace: 'kube-system' });
    await node.until(() => node.isRunning('a') && node.isRunning('b'));
    await node.stop();
    Object.assign(evictionHard, tooMuch);
    node.begin();
    const phaseOf = (name: string, namespace?: string): string | undefined => node.pod(name, namespace)?.status?.phase;
    await node.until(() => phaseOf('a') === 'Failed' && phaseOf('b') === 'Failed');
    const { reason, message } = node.pod('a')?.status ?? {};
    expect([reason, message]).toEqual(['Evicted', expect.stringMatching(/^The node was low on resource: memory\./)]);
    expect(node.events('a').join('\n')).toContain('Warning Evicted: The node was low on resource: memory.');
    expect(phaseOf('critical', 'kube-system')).toBe('Running');
    node.create('late', {});
    await node.until(() => phaseOf('late') === 'Failed');
    expect(node.pod('late')?.status).toMatchObject({ reason: 'Evicted' } satisfies WirePod['status']);
    await node.advance(60_000);
    expect(node.ledger.running().map(({ podUID }) => podUID)).toEqual([node.pod('critical', 'kube-system')?.metadata?.uid]);
    expect(node.wrong).toEqual([]);
  });
});
