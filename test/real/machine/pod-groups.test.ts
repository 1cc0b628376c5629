// The cgroups that the agent makes on cgroups of version 2, beside those that the kubelet makes (recorded by record.ts).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CgroupDriver, MachineNode } from './support/machine-node.ts';
import { type PodGroups, readPodGroups } from './support/pod-groups.ts';
import { recordedGroups } from './support/recordings.ts';

const drivers: readonly CgroupDriver[] = ['cgroupfs', 'systemd'];

describe.each(drivers)('the cgroups of pods of each class, with the driver %s', (driver) => {
  let node: MachineNode;
  let recorded: PodGroups;
  let ours: PodGroups;

  beforeAll(async () => {
    recorded = await recordedGroups(driver);
    node = await MachineNode.start(driver);
    await node.startAgent('own');
    ours = await readPodGroups(node);
  });
  afterAll(() => node?.stop());

  it('are the kubelet’s in every file, while the pods run', () => {
    expect(recorded.running.length).toBeGreaterThan(200);
    expect(ours.running).toEqual(recorded.running);
  });

  it('are the kubelet’s in every file, after a resize', () => {
    expect(recorded.resized).not.toEqual(recorded.running);
    expect(ours.resized).toEqual(recorded.resized);
  });

  it('are the kubelet’s in every file, when the pods are gone', () => {
    expect(recorded.gone.length).toBeGreaterThan(20);
    expect(ours.gone).toEqual(recorded.gone);
  });
});
