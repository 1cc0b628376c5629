import { describe, expect, it, vi } from 'vitest';
import { ContainerCollector } from '../../../../src/kubelet/pods/container-collector.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { evictionWorld, memory } from '../eviction/eviction-harness.ts';
import { NodeWorld } from './node-world.ts';

describe('upkeep of a node that works again', () => {
  it('never takes the disk of the node for that of images while the runtime does not say where they are', async () => {
    await using world = await NodeWorld.make();
    const { runtime } = world;
    let isBroken = true;
    runtime.imageFilesystems = () => (isBroken ? Promise.reject(new Error('busy')) : Promise.resolve([]));
    const agent = world.agent({ evictionHard: { 'imagefs.available': '1Ei' }, imageGCHighThresholdPercent: 100 });
    await world.through(agent.start());
    const isShort = () => agent.snapshot().problems.some(({ kind }) => kind === 'disk-pressure');
    await world.pass(30_000);
    expect(isShort()).toBe(false);
    isBroken = false;
    await world.pass(20_000);
    expect(isShort()).toBe(true);
    await world.through(agent.stop());
  });

  it('has one line each, with the failures before it: images, ended containers, the runtime and its network', async () => {
    const { logger, saying, of } = recordedLines();
    await using world = await NodeWorld.make();
    const { runtime } = world;
    const collect = vi.spyOn(ContainerCollector.prototype, 'collect').mockRejectedValueOnce(new Error('no list'));
    const agent = world.agent({ evictionHard: {}, imageGCHighThresholdPercent: 99, logger });
    runtime.imageFilesystems = async () => [];
    await world.through(agent.start());
    runtime.fail({ call: 'ListImages', times: 1000, fault: { kind: 'error', error: 'failed', message: 'no images' } });
    runtime.fail({ call: 'Status', times: 2, fault: { kind: 'error', error: 'failed', message: 'busy' } });
    await world.pass(310_000);
    runtime.setCondition({ type: 'NetworkReady', status: false, reason: 'Cni', message: 'none' });
    await world.pass(10_000);
    runtime.setCondition({ type: 'NetworkReady', status: true, reason: '', message: '' });
    runtime.heal();
    await world.pass(610_000);
    const told = [
      'unused images can be removed again',
      'ended containers can be removed again',
      'the container runtime is ready again',
      'the network of the container runtime is ready again',
    ];
    expect(told.map((message) => saying(message).map(({ level, fields }) => ({ level, ...fields })))).toEqual([
      [{ level: 'info', attempt: 1, failingForMs: expect.any(Number) }],
      [{ level: 'info', attempt: 1, failingForMs: expect.any(Number) }],
      [{ level: 'info', attempt: 2, failingForMs: expect.any(Number) }],
      [{ level: 'info', attempt: 2, failingForMs: expect.any(Number) }],
    ]);
    expect(
      of('info')
        .filter((message) => message.endsWith('again'))
        .toSorted(),
    ).toEqual(told.toSorted());
    await world.through(agent.stop());
    collect.mockRestore();
  });

  it('has one line for looks at what the node has left', async () => {
    const { logger, saying } = recordedLines();
    let isBroken = true;
    const readNode = async () => {
      if (isBroken) throw new Error('no /proc');
      return memory(500);
    };
    const { clock, manager } = evictionWorld([], {}, { logger, readNode });
    manager.start();
    await clock.advance(25_000);
    isBroken = false;
    await clock.advance(60_000);
    expect(saying('what the node has left can be looked at again')).toEqual([
      { level: 'info', message: expect.any(String), fields: { attempt: 3, failingForMs: 30_000 } },
    ]);
  });
});
