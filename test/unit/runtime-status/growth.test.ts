import { afterEach, describe, expect, it, vi } from 'vitest';
import { aggregate } from '../../../src/manifest/defaults/resource-defaults.ts';
import { podLimits, podRequests } from '../../../src/runtime-status/resource-lists.ts';
import { QuantityTotal } from '../../../src/wire/quantity-sum.ts';
import { numbered } from '../../support/counted.ts';

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
