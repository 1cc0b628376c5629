import { afterEach, describe, expect, it, vi } from 'vitest';
import { aggregate } from '../../../../src/api/manifest/pod-defaults.ts';
import { podLimits, podRequests } from '../../../../src/api/pod/pod-requests.ts';
import { QuantityTotal } from '../../../../src/api/quantity/quantity-arithmetic.ts';
import { generatePodStatus } from '../../../../src/node/pod-status/generate-pod-status.ts';
import { getPhase } from '../../../../src/node/pod-status/get-phase.ts';
import { podStatusFromContainers } from '../../../../src/node/pod-status/pod-status-from-containers.ts';
import { Counter, numbered } from '../../../support/counted.ts';

afterEach(() => void vi.restoreAllMocks());

const size = 2000;

describe('the sums of a pod with many containers', () => {
  const amounts = (name: string) => ({ requests: { [name]: '1' }, limits: { [name]: '1' } });
  const sidecars = numbered(size, (i) => ({
    name: `s${i}`,
    restartPolicy: 'Always',
    resources: amounts(`example.com/r${i}`),
  }));
  const inits = numbered(size, (i) => ({ name: `i${i}`, resources: amounts('cpu') }));
  const spec = { containers: [{ name: 'app' }], initContainers: [...sidecars, ...inits] };

  it.each([
    ['podRequests', () => podRequests(spec)],
    ['podLimits', () => podLimits(spec)],
    ['aggregate', () => aggregate(spec, 'requests')],
  ])('%s asks each container for its own resources only', (_name, sum) => {
    const added = vi.spyOn(QuantityTotal.prototype, 'add');
    const compared = vi.spyOn(QuantityTotal.prototype, 'compare');
    expect(Object.keys(sum())).toHaveLength(size + 1);
    expect(added.mock.calls.length + compared.mock.calls.length).toBeLessThanOrEqual(3 * 2 * size);
  });

  it('are right where sidecars come before, between and behind the init containers', () => {
    const container = (cpu: string, restartPolicy?: string) => ({
      name: 'c',
      resources: { requests: { cpu } },
      ...(restartPolicy && { restartPolicy }),
    });
    const mixed = {
      containers: [container('1')],
      initContainers: [container('1', 'Always'), container('4'), container('2', 'Always'), container('3')],
    };
    expect([podRequests(mixed).cpu, aggregate(mixed, 'requests').cpu]).toEqual(['6', '6']);
  });
});

describe('the status of a pod with thousands of containers', () => {
  const counter = new Counter();
  const names = numbered(size, (i) => `c${i}`);
  const items = <T extends object>(of: readonly string[], rest: T): (T & { name: string })[] =>
    counter.readingAll(
      of.map((name) => ({ ...rest, name })),
      'name',
    );
  const status = { image: '', imageID: '', ready: false, restartCount: 0, state: { running: {} } };
  const backwards = names.toReversed();
  const pod = {
    metadata: { uid: 'u1', name: 'p', namespace: 'd' },
    spec: { containers: items(names, { image: 'i' }), initContainers: items(names, { restartPolicy: 'Always', image: 'i' }) },
    status: { containerStatuses: items(backwards, status), initContainerStatuses: items(backwards, status) },
  };
  const fewLooks = 200 * size;

  it('is generated with a few looks at each record of the runtime', () => {
    const records = items(backwards, { id: 'x://1', state: 'running', active: true } as const);
    const runtimeStatus = { podUID: 'u1', ips: [], containers: records, sandboxes: [] };
    expect(counter.during(() => generatePodStatus({ pod, runtimeStatus }))).toBeLessThan(fewLooks);
  });

  it('follows from what is given with a few looks at each', () => {
    const given = items(backwards, { state: 'running' } as const);
    expect(counter.during(() => podStatusFromContainers(pod, given))).toBeLessThan(fewLooks);
  });

  it('has its phase after a few looks at each', () => {
    expect(
      counter.during(() => getPhase(pod, pod.status.containerStatuses, { podIsTerminal: false, podHasInitialized: true })),
    ).toBeLessThan(fewLooks);
  });
});
