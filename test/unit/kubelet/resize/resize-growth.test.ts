import { describe, expect, it } from 'vitest';
import { withReportedResources } from '../../../../src/kubelet/resize/reported-resources.ts';
import { resizeActionsOf } from '../../../../src/kubelet/resize/resize-actions.ts';
import type { ContainerDetails } from '../../../../src/kubelet/runtime/runtime-containers.ts';
import { Counter, numbered } from '../../../support/counted.ts';

const size = 2000;
const fewLooks = 40 * size;

describe('the resources of a pod with thousands of containers', () => {
  const counter = new Counter();
  const resources = { limits: { cpu: '1' }, requests: { cpu: '1' } };
  const containers = counter.readingAll(
    numbered(size, (i) => ({ name: `c${i}`, image: 'i', resources })),
    'name',
  );
  const details = numbered(size, (i) => {
    const metadata = counter.reading({ name: `c${size - 1 - i}`, attempt: 0 }, 'name');
    return { id: `id${i}`, metadata, state: 'running', resources: { cpuShares: 1024 } } as ContainerDetails;
  });
  const statuses = counter.readingAll(
    numbered(size, (i) => ({
      ...{ name: `c${i}`, image: 'i', imageID: '', ready: true, restartCount: 0 },
      ...{ resources, state: { running: {} } },
    })),
    'name',
  );
  const pod = { metadata: { uid: 'u1' }, spec: { containers } };
  const actuated = { containers: Object.fromEntries(numbered(size, (i) => [`c${i}`, { limits: { cpu: '2' } }])) };

  it('are reported with a few looks at each', () => {
    const report = () => withReportedResources(pod, { containerStatuses: statuses }, details, actuated as never);
    expect(counter.during(report)).toBeLessThan(fewLooks);
  });

  it('are compared with a few looks at each', () => {
    let found: unknown;
    const compare = () => {
      found = resizeActionsOf(pod, details, actuated as never);
    };
    expect(counter.during(compare)).toBeLessThan(fewLooks);
    expect((found as { cpu: unknown[] }).cpu).toHaveLength(size);
  });
});
