import { describe, expect, it } from 'vitest';
import {
  type Machine,
  memoryTotal,
  pageSize,
  prettyName,
  readMachine,
  swapTotal,
} from '../../../../src/kubelet/machine/machine.ts';
import { nodeImages, nodeStatus } from '../../../../src/kubelet/machine/node-reporter.ts';
import { nodeResources, resourcesForPods } from '../../../../src/kubelet/machine/node-resources.ts';

const machine: Machine = {
  cpus: 4,
  memoryBytes: 8 * 1024 ** 3,
  hugepages: new Map([[2 * 1024 ** 2, 512]]),
  maxProcesses: 32_768,
  kernelVersion: '6.1.0',
  machineID: 'm',
  systemUUID: 's',
  bootID: 'b',
  osImage: 'An OS',
  architecture: 'amd64',
};
const none = { systemReserved: {}, kubeReserved: {}, evictionHard: {} };

describe('what a node has', () => {
  it('is all allocatable where nothing is kept, but memory in huge pages', () => {
    const size = { machine, rootBytes: 100 * 1024 ** 3, maxPods: 110 };
    expect(nodeResources(size, none)).toEqual({
      capacity: { cpu: '4', 'ephemeral-storage': '104857600Ki', 'hugepages-2Mi': '1073741824', memory: '8388608Ki', pods: '110' },
      allocatable: {
        ...{ cpu: '4', 'ephemeral-storage': '104857600Ki', 'hugepages-2Mi': '1073741824', memory: '7340032Ki', pods: '110' },
      },
    });
  });

  it('is for all pods together also what an eviction keeps free, and processes', () => {
    const size = { machine: { ...machine, hugepages: new Map() }, rootBytes: undefined, maxPods: 10 };
    const evictionHard = { 'memory.available': '1Gi' };
    const reserved = { systemReserved: { memory: '1Gi', pid: '1000' }, kubeReserved: { pid: '768' }, evictionHard };
    expect(resourcesForPods(size, reserved)).toEqual({ cpu: '4', memory: '7340032Ki', pods: '10', pid: '31000' });
  });

  it('is for all pods together not less for huge pages, which the kernel does not count as memory of a group', () => {
    const size = { machine, rootBytes: undefined, maxPods: 10 };
    expect(resourcesForPods(size, none)).toMatchObject({ memory: '8388608Ki', 'hugepages-2Mi': '1073741824' });
  });

  it('is less what is kept for the machine, the agent and evictions', () => {
    const size = { machine: { ...machine, hugepages: new Map() }, rootBytes: 1000, maxPods: 10 };
    const { allocatable } = nodeResources(size, {
      systemReserved: { cpu: '500m', memory: '1Gi' },
      kubeReserved: { cpu: '1', memory: '1Gi' },
      evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%', 'imagefs.available': '15%' },
    });
    expect(allocatable).toEqual({ cpu: '2500m', memory: '6189056Ki', 'ephemeral-storage': '900', pods: '10' });
  });

  it('is never less than nothing', () => {
    const size = { machine, rootBytes: undefined, maxPods: 10 };
    const { allocatable } = nodeResources(size, { ...none, systemReserved: { memory: '1Ti', cpu: '99' } });
    expect(allocatable).toMatchObject({ memory: '0Ki', cpu: '0' });
  });
});

it('a machine with swap says so in its status', () => {
  const size = { machine, rootBytes: undefined, maxPods: 10 };
  const facts = {
    ...nodeResources(size, none),
    addresses: null,
    port: 0,
    version: undefined,
    health: undefined,
    images: undefined,
  };
  const { nodeInfo } = nodeStatus({ ...facts, machine: { ...machine, swapBytes: 7 } });
  expect(nodeInfo).toMatchObject({ swap: { capacity: 7 } });
  expect(nodeStatus({ ...facts, machine: { ...machine, swapBytes: 0 } }).nodeInfo).not.toHaveProperty('swap');
  expect(swapTotal('SwapTotal:       2 kB\nSwapFree: 1 kB\n')).toBe(2048);
  expect(swapTotal('')).toBe(0);
});

it('a page has the size that the kernel told the process', () => {
  const auxiliary = (...pairs: [bigint, bigint][]) => {
    const bytes = Buffer.alloc(pairs.length * 16);
    pairs.flat().forEach((value, index) => void bytes.writeBigUInt64LE(value, index * 8));
    return bytes;
  };
  expect(pageSize(auxiliary([3n, 64n], [6n, 65_536n], [0n, 0n]))).toBe(65_536);
  expect(pageSize(auxiliary([3n, 64n]))).toBe(4096);
  expect(pageSize(Buffer.alloc(7))).toBe(4096);
});

it('a machine is read from what the kernel says', () => {
  expect(memoryTotal('MemTotal:       16384 kB\nMemFree: 1 kB\n')).toBe(16_384 * 1024);
  expect(memoryTotal('')).toBe(0);
  expect(prettyName('NAME="A"\nPRETTY_NAME="An OS 1"\n')).toBe('An OS 1');
  expect(prettyName('')).toBe('Unknown');
  const read = readMachine();
  expect(read.cpus).toBeGreaterThan(0);
  expect(read.memoryBytes).toBeGreaterThan(1024 ** 2);
});

it('the largest images are named, with five names at most', () => {
  const image = (sizeBytes: number, repoTags: string[]) => ({
    ...{ id: String(sizeBytes), repoTags, repoDigests: [`d${sizeBytes}`], sizeBytes, username: '', pinned: false },
  });
  const images = [image(1, ['a']), image(3, ['b', 'c', 'd', 'e', 'f', 'g']), image(2, [])];
  expect(nodeImages(images, 2)).toEqual([
    { names: ['d3', 'b', 'c', 'd', 'e'], sizeBytes: 3 },
    { names: ['d2'], sizeBytes: 2 },
  ]);
  expect(nodeImages(images, -1)).toHaveLength(3);
});

it('a status says only what the runtime has said', () => {
  const facts = { machine, capacity: {}, allocatable: {}, addresses: [], port: 10250 };
  const unknown = { version: undefined, health: undefined, images: undefined };
  expect(nodeStatus({ ...facts, ...unknown })).toEqual({
    ...{ capacity: {}, allocatable: {}, addresses: [], daemonEndpoints: { kubeletEndpoint: { Port: 10250 } } },
    declaredFeatures: ['InPlacePodLevelResourcesVerticalScaling', 'RestartAllContainersOnContainerExits'],
    nodeInfo: expect.objectContaining({ containerRuntimeVersion: 'Unknown', kubeletVersion: 'v1.36.3', osImage: 'An OS' }),
  });
  const handler = { name: '', recursiveReadOnlyMounts: true, userNamespaces: false };
  const health = {
    conditions: [],
    handlers: [handler, { ...handler, name: 'other' }],
    features: { supplementalGroupsPolicy: true },
  };
  const version = { runtimeName: 'containerd', runtimeVersion: 'v2', runtimeApiVersion: 'v1' };
  const features = { recursiveReadOnlyMounts: true, userNamespaces: false };
  expect(nodeStatus({ ...facts, version, health, images: [], volumesInUse: [] })).toMatchObject({
    images: [],
    volumesInUse: [],
    features: { supplementalGroupsPolicy: true },
    runtimeHandlers: [{ features }, { name: 'other', features }],
    nodeInfo: { containerRuntimeVersion: 'containerd://v2' },
  });
});
