import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type HostPort, hasFreePorts, portsConflict } from '../../../../src/api/pod/host-ports.ts';
import { parseLabelSelector } from '../../../../src/api/selectors/label-selector.ts';
import { findUntoleratedTaint, isTolerated, type Toleration } from '../../../../src/api/selectors/taints.ts';
import { Counter, numbered } from '../../../support/counted.ts';

describe('a requirement with thousands of values', () => {
  it.each(['In', 'NotIn'])('is no search of its list: %s', (operator) => {
    const values = numbered(4000, (i) => `v${i}`);
    const search = vi.spyOn(values, 'includes');
    const selector = parseLabelSelector('selector', { matchExpressions: [{ key: 'k', operator, values }] });
    expect([selector.matches({ k: 'v3999' }), selector.matches({ k: 'other' })]).toEqual([operator === 'In', operator !== 'In']);
    expect(search).not.toHaveBeenCalled();
  });
});

describe('hasFreePorts', () => {
  const port = fc.record({
    ip: fc.constantFrom('0.0.0.0', '10.0.0.1', '10.0.0.2'),
    protocol: fc.constantFrom('TCP', 'UDP'),
    port: fc.integer({ min: 1, max: 3 }),
  });
  const podOf = (ports: readonly HostPort[]) => ({
    spec: {
      containers: [
        {
          name: 'c',
          ports: ports.map(({ ip, protocol, port }) => ({ containerPort: port, hostPort: port, hostIP: ip, protocol })),
        },
      ],
    },
  });

  it('agrees with a look at each pair of ports', () => {
    fc.assert(
      fc.property(fc.array(port, { maxLength: 4 }), fc.array(port, { maxLength: 4 }), (wanted, taken) => {
        const conflicts = wanted.some((one) => taken.some((other) => portsConflict(one, other)));
        expect(
          hasFreePorts(
            podOf(wanted),
            taken.map((one) => podOf([one])),
          ),
        ).toBe(!conflicts);
      }),
    );
  });
});

describe('findUntoleratedTaint', () => {
  it('looks a few times at each of thousands of tolerations', () => {
    const counter = new Counter();
    const size = 2000;
    const taints = numbered(size, (i) => ({ key: `k${i}`, effect: 'NoSchedule' }));
    const tolerations = counter.readingAll(
      numbered(size, (i): Toleration => ({ key: `k${size - 1 - i}`, operator: 'Exists' })),
      'operator',
    );
    let found: unknown;
    expect(
      counter.during(() => {
        found = findUntoleratedTaint(taints, tolerations, ['NoSchedule']);
      }),
    ).toBeLessThan(10 * size);
    expect(found).toBeUndefined();
  });

  it('agrees with a look at each pair', () => {
    const few = { key: fc.constantFrom('a', 'b', ''), value: fc.constantFrom('1', '2', undefined) };
    const taint = fc.record({ ...few, key: fc.constantFrom('a', 'b'), effect: fc.constantFrom('NoSchedule', 'NoExecute') });
    const toleration = fc.record({
      ...few,
      operator: fc.constantFrom('Exists', 'Equal', 'Gt', '', undefined),
      effect: fc.constantFrom('NoSchedule', 'NoExecute', '', undefined),
    });
    fc.assert(
      fc.property(
        fc.array(taint, { minLength: 17, maxLength: 20 }),
        fc.array(toleration, { minLength: 1, maxLength: 3 }),
        (taints, given) => {
          const tolerations = numbered(20, (i) => given[i % given.length] ?? {}) as Toleration[];
          const wanted = taints.find((each) => !isTolerated(each as never, tolerations));
          expect(findUntoleratedTaint(taints as never, tolerations, ['NoSchedule', 'NoExecute'])).toBe(wanted);
        },
      ),
    );
  });
});
