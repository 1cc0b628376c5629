import { describe, expect, it } from 'vitest';
import { CalmNode } from './calm-node.ts';

describe('a node agent whose runtime loses every event', () => {
  it('starts pods, tells how their containers end, starts them again, and ends pods', async () => {
    const node = await CalmNode.open();
    node.runtime.loseEvents({ probability: 1 });
    node.begin();
    await node.advance(1000);
    node.create('web', {});
    await node.until(() => node.isRunning('web'));
    const [run] = node.ledger.running();
    node.runtime.killContainer(run?.id ?? '', { exitCode: 42, reason: 'OOMKilled' });
    await node.until(() => node.pod('web')?.status?.containerStatuses?.[0]?.restartCount === 1, 60_000);
    await node.until(() => node.isRunning('web'));
    expect(node.pod('web')?.status?.containerStatuses?.[0]?.lastState?.terminated).toMatchObject({
      exitCode: 42,
      reason: 'OOMKilled',
      containerID: `fake://${run?.id}`,
    });
    node.delete('web');
    await node.until(() => node.pod('web') === undefined, 60_000);
    expect([node.ledger.running(), node.wrong]).toEqual([[], []]);
  });
});
