import { describe, expect, it } from 'vitest';
import { containerEnvironment } from '../../../../src/node/environment/environment.ts';
import { downwardFiles, ShownFields } from '../../../../src/node/pod-files/shown-fields.ts';
import { Counter, numbered } from '../../../support/counted.ts';

const size = 2000;
const fewLooks = 40 * size;

describe('fields that show the resources of thousands of containers', () => {
  const counter = new Counter();
  const containers = counter.readingAll(
    numbered(size, (i) => ({ name: `c${i}`, image: 'i', resources: { limits: { cpu: `${i + 1}` } } })),
    'name',
  );
  const pod = { metadata: { uid: 'u1', name: 'p', namespace: 'd' }, spec: { containers } };
  const refTo = (i: number) => ({ containerName: `c${size - 1 - i}`, resource: 'limits.cpu' });

  it('are files after a few looks at each container', () => {
    const items = numbered(size, (i) => ({ path: `p${i}`, resourceFieldRef: refTo(i) }));
    let files: ReturnType<typeof downwardFiles> | undefined;
    const make = () => {
      files = downwardFiles({ fields: new ShownFields(pod, () => ({ cpu: '4' })) }, items, 0o644);
    };
    expect(counter.during(make)).toBeLessThan(fewLooks);
    expect(String(files?.get('p0')?.data)).toBe(`${size}`);
  });

  it('are variables after a few looks at each container', async () => {
    const env = numbered(size, (i) => ({ name: `E${i}`, valueFrom: { resourceFieldRef: refTo(i) } }));
    const before = counter.count;
    const sources = { objects: {}, services: new Map(), addresses: {}, allocatable: { cpu: '4' }, isTurn: true };
    const environment = await containerEnvironment(pod, { name: 'app', image: 'i', env }, sources as never);
    expect(counter.count - before).toBeLessThan(fewLooks);
    expect(environment.get('E0')).toBe(`${size}`);
  });
});
