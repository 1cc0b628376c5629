import { describe, expect, it } from 'vitest';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { minute, NodeWorld, nodeName } from './node-world.ts';

describe('a node whose server is back', () => {
  it('has one line for the node and one for its Lease, with the failures before them', async () => {
    const { logger, saying } = recordedLines();
    const world = new NodeWorld({ logger });
    await world.start();
    await world.clock.advance(minute);
    world.isDown = true;
    world.dropWatches();
    await world.clock.advance(5 * minute + 30_000);
    const { nodeFailure, leaseFailure } = world.node.explain();
    expect([nodeFailure?.attempt, leaseFailure?.attempt]).toEqual([expect.any(Number), expect.any(Number)]);
    world.isDown = false;
    await world.clock.advance(10 * minute);
    const told = ['the node is kept in step again', 'the Lease of the node is renewed again'].map(saying);
    expect(told).toMatchObject([
      [{ level: 'info', fields: { node: nodeName, attempt: nodeFailure?.attempt } }],
      [{ level: 'info', fields: { node: nodeName, attempt: leaseFailure?.attempt } }],
    ]);
    for (const [line] of told) expect((line?.fields as { failingForMs: number }).failingForMs).toBeGreaterThan(20_000);
    await world.node.stop();
  });

  it('has none where nothing had failed', async () => {
    const { logger, of } = recordedLines();
    const world = new NodeWorld({ logger });
    await world.start();
    await world.clock.advance(10 * minute);
    await world.node.stop();
    expect(of('info').filter((message) => message.endsWith('again'))).toEqual([]);
  });
});
