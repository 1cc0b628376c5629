import { describe, expect, it } from 'vitest';
import type { NodeObjectOptions } from '../../../../src/node/node-object/node-object-options.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { NodeWorld, nodeName, refusal, unreachable } from './node-world.ts';

const minute = 60_000;
const fine = ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID'];

/** A server with a node object that tells its events. */
function worldWith(options: Partial<NodeObjectOptions> = {}) {
  const events: string[] = [];
  const messages: string[] = [];
  const eventRecorder = {
    event: () => events.push('an event of a pod'),
    nodeEvent: (name: string, type: string, reason: string, message: string) => {
      events.push(type === 'Normal' ? reason : `${type} ${reason}`);
      messages.push(`${name}: ${message}`);
    },
  };
  const world = new NodeWorld({ eventRecorder, ...options });
  const taken = (): string[] => events.splice(0);
  return { world, taken, messages, eventRecorder };
}

const bootID = (id: string): Partial<NodeObjectOptions> => ({ nodeInfo: { bootID: id } });

describe('the events of a node', () => {
  it('tell once of what a new node says, and no heartbeat tells of it again', async () => {
    const { world, taken, messages } = worldWith();
    await world.start();
    expect(taken()).toEqual([...fine, 'NodeReady']);
    expect(messages[0]).toBe(`${nodeName}: Node ${nodeName} status is now: NodeHasSufficientMemory`);
    await world.clock.advance(21 * minute);
    expect(world.calls.filter((call) => call === 'PATCH nodes/status').length).toBeGreaterThan(3);
    expect(taken()).toEqual([]);
    await world.node.stop();
  });

  it('tell of each change of what it says', async () => {
    let ready = false;
    let isShort = false;
    const pressures = () => ({ memory: isShort, disk: isShort, pid: isShort });
    const { world, taken } = worldWith({ readiness: () => ({ ready }), pressures });
    await world.start();
    expect(taken()).toEqual(fine);
    ready = true;
    await world.clock.advance(20_000);
    expect(taken()).toEqual(['NodeReady']);
    isShort = true;
    await world.clock.advance(20_000);
    expect(taken()).toEqual(['NodeHasInsufficientMemory', 'NodeHasDiskPressure', 'NodeHasInsufficientPID']);
    [ready, isShort] = [false, false];
    await world.clock.advance(20_000);
    expect(taken()).toEqual([...fine, 'NodeNotReady']);
    await world.node.stop();
  });

  it('tell nothing of a node that is taken over as it is, and of one that others found silent that it is ready', async () => {
    const { world, taken } = worldWith();
    await world.start();
    await world.node.stop();
    taken();
    const second = world.another();
    second.start();
    await settle(20);
    expect(taken()).toEqual([]);
    const conditions = world.stored()?.status?.conditions?.map((each) => ({ ...each, status: 'Unknown' }));
    world.nodes.patch(
      { name: nodeName },
      { type: 'application/merge-patch+json', body: { status: { conditions } }, subresource: 'status' },
    );
    await world.clock.advance(20_000);
    expect(taken()).toEqual([...fine, 'NodeReady']);
    await second.stop();
  });

  it('tell once also of a change whose answer is lost, and not of one that is refused', async () => {
    let ready = false;
    const { world, taken } = worldWith({ readiness: () => ({ ready }) });
    await world.start();
    taken();
    world.next('PATCH nodes/status', () => {
      throw refusal(503, 'ServiceUnavailable');
    });
    ready = true;
    await world.clock.advance(10_000);
    expect([taken(), world.condition('Ready')?.status]).toEqual([[], 'False']);
    world.next('PATCH nodes/status', (act) => {
      act();
      throw unreachable();
    });
    await world.clock.advance(minute);
    expect(taken()).toEqual(['NodeReady']);
    await world.node.stop();
  });

  it('tell once also of the first change of a node that is taken over, where its answer is lost', async () => {
    let ready = false;
    const { world, taken } = worldWith({ readiness: () => ({ ready }) });
    await world.start();
    await world.node.stop();
    taken();
    world.next('PATCH nodes/status', (act) => {
      act();
      throw unreachable();
    });
    ready = true;
    const second = world.another();
    second.start();
    await world.clock.advance(minute);
    expect(taken()).toEqual(['NodeReady']);
    await second.stop();
  });

  it('tell that its machine was started anew', async () => {
    const { world, taken, messages } = worldWith(bootID('one'));
    await world.start();
    await world.node.stop();
    taken();
    messages.length = 0;
    const second = world.another(bootID('two'));
    second.start();
    await settle(20);
    expect([taken(), messages]).toEqual([
      ['Warning Rebooted'],
      [`${nodeName}: Node ${nodeName} has been rebooted, boot id: two`],
    ]);
    await world.clock.advance(6 * minute);
    expect(taken()).toEqual([]);
    await second.stop();
  });

  it('tell that somebody has kept new pods away from it, or lets them come again', async () => {
    const { world, taken } = worldWith();
    await world.start();
    taken();
    const cordon = (unschedulable: boolean | null) =>
      world.nodes.patch({ name: nodeName }, { type: 'application/merge-patch+json', body: { spec: { unschedulable } } });
    cordon(true);
    await world.clock.advance(20_000);
    expect(taken()).toEqual(['NodeNotSchedulable']);
    cordon(null);
    await world.clock.advance(20_000);
    expect(taken()).toEqual(['NodeSchedulable']);
    await world.node.stop();
  });

  it('cost nothing where the recorder fails, or writes none of nodes', async () => {
    const nodeEvent = () => {
      throw new Error('no');
    };
    for (const eventRecorder of [{ event: () => {} }, { event: () => {}, nodeEvent }]) {
      const { world } = worldWith({ eventRecorder });
      await world.start();
      expect([world.condition('Ready')?.status, world.logs.filter((line) => !line.startsWith('info'))]).toEqual(['True', []]);
      await world.node.stop();
    }
  });
});
