import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { classicPodReading } from '../../../../src/scheduler/classic/classic-amounts.ts';
import { podAmounts } from '../../../../src/scheduler/nodes/pod-info.ts';
import { allocatableAmounts, inThousandths, unitsOf } from '../../../../src/scheduler/nodes/resource.ts';

const mi = 1024 * 1024;
type Container = NonNullable<WirePod['spec']>['containers'][number];
const container = (name: string, requests?: Record<string, string>, members: Partial<Container> = {}): Container => ({
  name,
  ...(requests && { resources: { requests } }),
  ...members,
});
const sidecar = (name: string, requests?: Record<string, string>) => container(name, requests, { restartPolicy: 'Always' });

describe('a quantity', () => {
  it.each([
    ['100m', 100],
    ['2', 2000],
    ['1.5', 1500],
    ['1Ki', 1024 * 1000],
    ['2Gi', 2 * 1024 ** 3 * 1000],
    ['1e3', 1_000_000],
    ['100u', 1],
    ['-100u', -1],
    ['1Ei', 1024 ** 6 * 1000],
  ])('%s is %d thousandths', (text, amount) => {
    expect(inThousandths(text)).toBe(amount);
  });

  it('is rounded up to whole units', () => {
    expect([1001, 1000, -1001].map(unitsOf)).toEqual([2, 1, -2]);
  });

  it('is refused where it is none', () => {
    expect(() => inThousandths('much')).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }));
  });
});

describe('what a pod asks for', () => {
  const requestsOf = (spec: Partial<WirePod['spec']>, status?: WirePod['status']) =>
    podAmounts({ spec: { containers: [], ...spec }, ...(status && { status }) });

  it('is the sum of its containers, and 100m and 200 MiB count where a container names none', () => {
    const { requests, nonZeroRequests } = requestsOf({ containers: [container('a', { cpu: '250m' }), container('b')] });
    expect(requests).toMatchObject({ milliCPU: 250, memory: 0, ephemeralStorage: 0 });
    expect(nonZeroRequests).toEqual({ milliCPU: 350, memory: 400 * mi });
  });

  it('counts no default where a container asks for none explicitly', () => {
    expect(requestsOf({ containers: [container('a', { cpu: '0', memory: '0' })] }).nonZeroRequests).toEqual({
      milliCPU: 0,
      memory: 0,
    });
  });

  it('is rounded once, at the end', () => {
    const containers = [container('a', { memory: '500m' }), container('b', { memory: '500m' })];
    expect(requestsOf({ containers }).requests.memory).toBe(1);
  });

  it('is at least what an init container needs beside the sidecars before it', () => {
    const initContainers = [container('i0', { cpu: '300m' }), sidecar('s', { cpu: '100m' }), container('i1', { cpu: '900m' })];
    expect(requestsOf({ initContainers, containers: [container('a', { cpu: '500m' })] }).requests.milliCPU).toBe(1000);
    expect(requestsOf({ initContainers, containers: [container('a', { cpu: '1' })] }).requests.milliCPU).toBe(1100);
  });

  it('is what the pod itself asks for, and its overhead', () => {
    const { requests, nonZeroRequests } = requestsOf({
      containers: [container('a', { cpu: '100m', 'example.com/gpu': '1' })],
      resources: { requests: { cpu: '2', 'example.com/gpu': '5' } },
      overhead: { cpu: '250m', memory: '1Mi' },
    });
    expect(requests).toMatchObject({ milliCPU: 2250, memory: mi });
    expect([...requests.scalar]).toEqual([['example.com/gpu', 1]]);
    // the overhead names memory, so that no default counts
    expect(nonZeroRequests).toEqual({ milliCPU: 2250, memory: mi });
  });

  it('is the most of what is asked, allocated and in force while a resize is on its way', () => {
    const containers = [container('a', { cpu: '500m' })];
    const status = (cpu: string, allocated: string, reason?: string): WirePod['status'] => ({
      containerStatuses: [{ name: 'a', resources: { requests: { cpu } }, allocatedResources: { cpu: allocated } } as never],
      ...(reason && { conditions: [{ type: 'PodResizePending', status: 'True', reason }] }),
    });
    expect(requestsOf({ containers }, status('600m', '400m')).requests.milliCPU).toBe(600);
    expect(requestsOf({ containers }, status('300m', '400m')).requests.milliCPU).toBe(500);
    expect(requestsOf({ containers }, status('300m', '400m', 'Infeasible')).requests.milliCPU).toBe(400);
    expect(requestsOf({ containers }, status('300m', '400m', 'Deferred')).requests.milliCPU).toBe(500);
  });

  it('is the most of the three for the resources of the pod itself, too', () => {
    const resources = { requests: { cpu: '1' } };
    const status = { resources: { requests: { cpu: '3' } }, allocatedResources: { cpu: '2' } } as WirePod['status'];
    expect(requestsOf({ resources }, status).requests.milliCPU).toBe(3000);
  });

  it('leaves out names that no scheduler counts', () => {
    const quantities = { cpu: '1', pods: '3', odd: '5', 'requests.example.com/x': '1', 'hugepages-2Mi': '4Mi', 'a.b/c': '2' };
    const { scalar, pods } = allocatableAmounts(quantities);
    expect(pods).toBe(3);
    expect([...scalar]).toEqual([
      ['hugepages-2Mi', 4 * mi],
      ['a.b/c', 2],
    ]);
  });
});

describe('what a pod asked the classic scheduler for', () => {
  it('is the larger of its containers and its largest init container; sidecars and resources of the pod are not known', () => {
    const pod: WirePod = {
      spec: {
        initContainers: [sidecar('s', { cpu: '300m' })],
        containers: [container('a', { cpu: '100m' }), container('b')],
        resources: { requests: { cpu: '9' } },
        overhead: { cpu: '50m' },
      },
    };
    const { requests, nonZeroRequests } = classicPodReading.amounts(pod);
    expect(requests.milliCPU).toBe(350);
    expect(nonZeroRequests).toEqual({ milliCPU: 350, memory: 400 * mi });
  });

  it('takes the ports of regular containers only', () => {
    const ports = [{ containerPort: 1, hostPort: 80 }];
    const spec = { initContainers: [{ ...sidecar('s'), ports }], containers: [container('a')] };
    expect(classicPodReading.hostPorts({ spec })).toEqual([]);
  });
});
