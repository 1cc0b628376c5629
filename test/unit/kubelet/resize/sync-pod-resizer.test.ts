import { describe, expect, it } from 'vitest';
import type { AgentPodStatus } from '../../../../src/kubelet/pleg/agent-status.ts';
import { SyncPodResizer } from '../../../../src/kubelet/resize/sync-pod-resizer.ts';
import type { ContainerDetails } from '../../../../src/kubelet/runtime/runtime-containers.ts';
import { both, container, podOf, resizeWorld, running } from './resize-harness.ts';

const signal = new AbortController().signal;
const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }];
const before = podOf(1, container('app', both(100, 20), { resizePolicy }));
const after = podOf(2, container('app', both(100, 40), { resizePolicy }));

function statusOf(...containerDetails: ContainerDetails[]): AgentPodStatus {
  return { podUID: 'uid-of-web', ips: [], containers: [], sandboxes: [], sandboxDetails: [], containerDetails };
}

describe('a resize in a pod’s sync', () => {
  it('that needs a restart is over once the container was made again, which counts as a change', async () => {
    const { allocations, resizer, resizes, pods } = await resizeWorld();
    const sync = new SyncPodResizer(resizer, resizes);
    allocations.add(before);
    sync.containerMade(before, 'app');
    expect(await sync.resize(before, statusOf(running('app')), signal)).toBe(false);
    pods.set('uid-of-web', after);
    allocations.update(after);
    const [app] = after.spec?.containers ?? [];
    if (app === undefined) throw new Error('no container');
    expect(sync.needsRestart(after, app, { details: running('app') })).toBe(true);
    expect(await sync.resize(after, statusOf(running('app')), signal)).toBe(true);
    expect(resizes.getPodResizeConditions('uid-of-web')).toHaveLength(1);
    sync.containerMade(after, 'app');
    expect(sync.needsRestart(after, app, { details: running('app') })).toBe(false);
    expect(await sync.resize(after, statusOf(running('app')), signal)).toBe(true);
    expect(resizes.getPodResizeConditions('uid-of-web')).toEqual([]);
    expect(await sync.resize(after, statusOf(running('app')), signal)).toBe(false);
  });
});
