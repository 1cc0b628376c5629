import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { noPodCgroups, readMachine } from '../../../../src/kubelet/machine/machine.ts';
import { ContainerCollector } from '../../../../src/kubelet/pods/container-collector.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { NodeWorld } from './node-world.ts';

interface NodeEvent {
  readonly involvedObject: object;
  readonly source: object;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

/** The events about nodes that the server has, in the order in which they were written first. */
const nodeEvents = ({ objects }: NodeWorld): NodeEvent[] =>
  (objects.target('/api/v1/events').store.list() as unknown as (NodeEvent & { involvedObject: { kind: string } })[]).filter(
    ({ involvedObject }) => involvedObject.kind === 'Node',
  );
const reasons = (world: NodeWorld): string[] => nodeEvents(world).map(({ type, reason }) => `${type} ${reason}`);

const fine = ['Normal NodeHasSufficientMemory', 'Normal NodeHasNoDiskPressure', 'Normal NodeHasSufficientPID'];
const calm = { evictionHard: {}, imageGCHighThresholdPercent: 100 };

describe('the events of a node agent about its node', () => {
  it('tell that it begins, how the node is, and when it is ready; and then nothing while nothing changes', async () => {
    await using world = await NodeWorld.make();
    const agent = world.agent(calm);
    await world.through(agent.start());
    await world.pass(10_000);
    const all = ['Normal Starting', ...fine, 'Normal NodeReady'];
    expect(reasons(world)).toEqual(all);
    const uid = world.objects.target('/api/v1/nodes').store.get({ name: 'node-1' }).metadata?.uid;
    expect(uid).not.toBe('node-1');
    const involvedObject = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'node-1' };
    const source = { component: 'kubelet', host: 'node-1' };
    expect(nodeEvents(world)[0]).toMatchObject({ involvedObject, source, message: 'Starting kubelet.', count: 1 });
    await world.pass(900_000);
    expect(nodeEvents(world).map(({ reason, count }) => [reason, count])).toEqual(all.map((each) => [each.split(' ')[1], 1]));
    await world.through(agent.stop());
  });

  it('tell that the runtime is down, and that it is back', async () => {
    await using world = await NodeWorld.make();
    const agent = world.agent(calm);
    await world.through(agent.start());
    await world.pass(10_000);
    world.runtime.setCondition({ type: 'NetworkReady', status: false, reason: 'NoPlugin', message: 'no plugin' });
    await world.pass(60_000);
    world.runtime.setCondition({ type: 'NetworkReady', status: true, reason: '', message: '' });
    await world.pass(60_000);
    expect(reasons(world).slice(4)).toEqual(['Normal NodeReady', 'Normal NodeNotReady']);
    expect(nodeEvents(world).find(({ reason }) => reason === 'NodeReady')?.count).toBe(2);
    await world.through(agent.stop());
  });

  it('tell of what the node runs short of', async () => {
    await using world = await NodeWorld.make();
    const agent = world.agent({ ...calm, evictionHard: { 'memory.available': '1Ei' } });
    await world.through(agent.start());
    await world.pass(60_000);
    expect(reasons(world)).toContain('Normal NodeHasInsufficientMemory');
    const event = nodeEvents(world).find(({ reason }) => reason === 'EvictionThresholdMet');
    expect(event).toMatchObject({
      type: 'Warning',
      message: 'Attempting to reclaim memory',
      count: expect.toSatisfy((n) => n > 1),
    });
    await world.through(agent.stop());
  });

  it('tell that images and ended containers could not be removed', async () => {
    await using world = await NodeWorld.make();
    const collect = vi.spyOn(ContainerCollector.prototype, 'collect').mockRejectedValueOnce(new Error('no list'));
    const agent = world.agent({ ...calm, imageGCHighThresholdPercent: 85 });
    world.runtime.imageFilesystems = async () => [];
    world.runtime.listImages = () => Promise.reject(new Error('no images'));
    await world.through(agent.start());
    await world.pass(290_000);
    const told = () => nodeEvents(world).map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
    expect(told()).toContain('Warning ContainerGCFailed: no list');
    // the first failure may come of a runtime that has just begun
    expect(reasons(world)).not.toContain('Warning ImageGCFailed');
    await world.pass(300_000);
    expect(told()).toContain('Warning ImageGCFailed: no images');
    await world.through(agent.stop());
    collect.mockRestore();
  });

  it('tell that the kernel has ended a process because the machine had no memory left', async () => {
    await using world = await NodeWorld.make();
    const kernelLog = join(await tempDir(), 'kmsg');
    await writeFile(kernelLog, '');
    const agent = world.agent({ ...calm, machine: { ...readMachine(), kernelLog } });
    await world.through(agent.start());
    await appendFile(kernelLog, '3,7,9,-;Out of memory: Killed process 12 (greedy) total-vm:16kB, anon-rss:8kB\n');
    await world.pass(20_000);
    const event = nodeEvents(world).find(({ reason }) => reason === 'SystemOOM');
    expect(event).toMatchObject({ type: 'Warning', message: 'System OOM encountered, victim process: greedy, pid: 12' });
    await world.through(agent.stop());
    expect(world.timersLeft).toBe(0);
  });

  it('tell that the pods have their share of the node, where there are cgroups', async () => {
    await using world = await NodeWorld.make();
    const agent = world.agent({ ...calm, cgroups: { ...noPodCgroups } });
    await world.through(agent.start());
    await world.pass(10_000);
    expect(reasons(world).slice(0, 2)).toEqual(['Normal Starting', 'Normal NodeAllocatableEnforced']);
    await world.through(agent.stop());
  });

  it('tell why the agent could not start', async () => {
    await using world = await NodeWorld.make();
    const createBase = () => Promise.reject(new Error('read-only file system'));
    const agent = world.agent({ ...calm, cgroups: { ...noPodCgroups, createBase } });
    await expect(world.through(agent.start())).rejects.toThrow('read-only file system');
    await world.pass(5000);
    expect(nodeEvents(world).map(({ type, reason, message }) => `${type} ${reason}: ${message}`)).toEqual([
      'Normal Starting: Starting kubelet.',
      'Warning KubeletSetupFailed: read-only file system',
    ]);
    await world.through(agent.stop());
  });

  it('go to the recorder that was given, and nowhere where it writes none of nodes', async () => {
    const told: string[] = [];
    const nodeEvent = (name: string, type: string, reason: string) => void told.push(`${name} ${type} ${reason}`);
    for (const eventRecorder of [{ event: () => {}, nodeEvent }, { event: () => {} }]) {
      await using world = await NodeWorld.make();
      const agent = world.agent({ ...calm, eventRecorder });
      await world.through(agent.start());
      await world.pass(10_000);
      expect(nodeEvents(world)).toEqual([]);
      await world.through(agent.stop());
    }
    expect(told).toEqual(['Normal Starting', ...fine, 'Normal NodeReady'].map((each) => `node-1 ${each}`));
  });
});
