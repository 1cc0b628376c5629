import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type HostPort, hasFreePorts, portsConflict } from '../../../src/placement/host-ports.ts';
import { parseLabelSelector } from '../../../src/placement/label-selector.ts';
import { numbered } from '../../support/counted.ts';

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
