import { describe, expect, it } from 'vitest';
import { containerKey } from '../../../../src/node/workers/restart-backoff.ts';

const pod = { metadata: { uid: '1', name: 'web', namespace: 'shop' } };
const app = { name: 'app', image: 'app:1', resources: { limits: { cpu: '1', memory: '1Gi' } } };

describe('what the restarts of a container are counted under', () => {
  it('changes with the pod, the container, its image and its resources', () => {
    const others = [
      containerKey({ metadata: { ...pod.metadata, uid: '2' } }, app),
      containerKey(pod, { ...app, name: 'b' }),
      containerKey(pod, { ...app, image: 'app:2' }),
      containerKey(pod, { ...app, resources: { limits: { cpu: '2', memory: '1Gi' } } }),
    ];
    expect(new Set([containerKey(pod, app), ...others]).size).toBe(5);
    expect(containerKey(pod, { ...app, resources: { limits: { memory: '1Gi', cpu: '1' } } })).toBe(containerKey(pod, app));
  });

  it('is short, however long its author made them', () => {
    const long = { name: 'app', image: 'x'.repeat(1_000_000), resources: { limits: { ['y'.repeat(100_000)]: '1' } } };
    expect(containerKey(pod, long).length).toBeLessThan(200);
  });
});
