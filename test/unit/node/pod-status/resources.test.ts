// After k8s.io/component-helpers/resource/helpers_test.go, v0.36.3 (TestPodRequests, TestPodLimits, TestPodLevelResourceRequests),
// pkg/kubelet/kubelet_pods_test.go, v1.36.3 (TestConvertToAPIContainerStatusesForResources, …PodLevelResources…).
import { describe, expect, it } from 'vitest';
import { podLimits, podRequests } from '../../../../src/api/pod/pod-requests.ts';
import { containerOf, podOf, reported, running, runtimeOf, type Spec, statusOf } from './pods.ts';

const asking = (name: string, requests?: Record<string, string>, limits?: Record<string, string>, more = {}) => ({
  name,
  ...more,
  resources: { ...(requests && { requests }), ...(limits && { limits }) },
});
const sidecar = { restartPolicy: 'Always' };

describe('what a whole pod asks for', () => {
  it.each<[string, Spec, Record<string, string>]>([
    [
      'its regular containers together',
      { containers: [asking('a', { cpu: '100m', 'x/y': '1' }), asking('b', { cpu: '1', memory: '1Ki' })] },
      { cpu: '1100m', memory: '1Ki', 'x/y': '1' },
    ],
    [
      'the largest init container, where that asks for more',
      { containers: [asking('a', { cpu: '1' })], initContainers: [asking('x', { cpu: '3' }), asking('y', { cpu: '2' })] },
      { cpu: '3' },
    ],
    [
      'sidecars beside the regular containers, and beside the init containers after them',
      {
        containers: [asking('a', { cpu: '1' })],
        initContainers: [asking('x', { cpu: '2' }), asking('s', { cpu: '1' }, undefined, sidecar), asking('y', { cpu: '2' })],
      },
      { cpu: '3' },
    ],
    [
      'what the pod itself says, and its overhead',
      {
        containers: [asking('a', { cpu: '1', memory: '1Gi', 'x/y': '1' })],
        resources: { requests: { cpu: '4', 'hugepages-2Mi': '2Mi', 'z/z': '9' } },
        overhead: { cpu: '250m' },
      },
      { cpu: '4250m', memory: '1Gi', 'x/y': '1', 'hugepages-2Mi': '2Mi' },
    ],
    ['nothing', { containers: [asking('a')] }, {}],
  ])('is %s', (_, spec, expected) => {
    expect(podRequests(spec)).toEqual(expected);
  });

  it('adds the overhead to limits that are there, and are not zero', () => {
    const spec = {
      containers: [asking('a', undefined, { cpu: '1', memory: '0' })],
      overhead: { cpu: '1', memory: '1Mi', 'x/y': '1' },
    };
    expect(podLimits(spec)).toEqual({ cpu: '2', memory: '0' });
  });
});

describe('the resources in a status', () => {
  const asked = { requests: { cpu: '1000m', memory: '1024Ki' }, limits: { cpu: '2' } };
  const spec = { containers: [{ name: 'a', resources: asked }] };
  const written = { requests: { cpu: '1', memory: '1Mi' }, limits: { cpu: '2' } };

  it('are the spec’s, as the apiserver writes quantities', () => {
    const status = statusOf(podOf(spec), runtimeOf(running()));
    expect(containerOf(status)).toMatchObject({ resources: written, allocatedResources: written.requests });
    expect(status).toMatchObject({ resources: written, allocatedResources: written.requests });
  });

  it('are left out of the status of a container that was never made', () => {
    expect(containerOf(statusOf(podOf(spec), runtimeOf()))).not.toHaveProperty('resources');
  });

  it('stay as reported while the same container runs on', () => {
    const reportedResources = { requests: { cpu: '700m' }, limits: { memory: '5Mi' } };
    const old = (id: string) => ({
      containerStatuses: [reported('a', { containerID: id, state: { running: {} }, resources: reportedResources })],
    });
    const resourcesAfter = (id: string) =>
      containerOf(statusOf(podOf(spec), runtimeOf(running()), { previous: old(id) }))?.resources;
    expect(resourcesAfter('cri://a0')).toEqual({
      requests: { cpu: '700m', memory: '1Mi' },
      limits: { cpu: '2', memory: '5Mi' },
    });
    expect(resourcesAfter('cri://other')).toEqual(written);
  });

  it('never come to have limits that the spec does not ask for', () => {
    const old = reported('a', { containerID: 'cri://a0', state: { running: {} }, resources: { limits: { cpu: '9' } } });
    const pod = podOf({ containers: [asking('a', { cpu: '1' })] });
    const status = statusOf(pod, runtimeOf(running()), { previous: { containerStatuses: [old] } });
    expect(containerOf(status)?.resources).toEqual({ requests: { cpu: '1' } });
  });

  it('of a pod that did not run before are not those that were reported', () => {
    const previous = { phase: 'Pending', resources: { requests: { cpu: '2' } } };
    expect(statusOf(podOf({}, { phase: 'Running' }), runtimeOf(running()), { previous }).resources).toEqual({});
  });

  it('of a pod that runs are its own, with the memory of its containers and what was reported', () => {
    const pod = podOf({ ...spec, resources: { requests: { cpu: '3' } } }, { phase: 'Running' });
    const with_ = (resources?: object) =>
      statusOf(pod, runtimeOf(running()), { previous: { phase: 'Running', ...(resources && { resources }) } });
    expect(with_().resources).toEqual({ requests: { cpu: '3', memory: '1Mi' } });
    expect(with_({ requests: { cpu: '2' }, limits: { memory: '7Mi' } }).resources).toEqual({
      requests: { cpu: '2', memory: '1Mi' },
      limits: { memory: '7Mi' },
    });
  });

  it('name the claims', () => {
    const claims = [{ name: 'gpu' }, { name: 'net', request: 'fast' }];
    const pod = podOf({ containers: [{ name: 'a', resources: { claims } }], resources: { claims } });
    const status = statusOf(pod, runtimeOf(running()));
    expect([containerOf(status)?.resources?.claims, status.resources?.claims]).toEqual([claims, claims]);
  });
});

describe('the quality of service', () => {
  it('is what the apiserver says, or else what the spec comes to', () => {
    const spec = { containers: [asking('a', { cpu: '1' })] };
    expect(statusOf(podOf(spec), runtimeOf()).qosClass).toBe('Burstable');
    expect(statusOf(podOf(spec, { qosClass: 'Guaranteed' }), runtimeOf()).qosClass).toBe('Guaranteed');
  });
});
