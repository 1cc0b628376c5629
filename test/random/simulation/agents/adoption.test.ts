import { describe, expect, it } from 'vitest';
import type { ContainerRuntime } from '../../../../src/kubelet/runtime/container-runtime.ts';
import type { FakeRuntime } from '../../../../src/testing.ts';
import { CalmNode } from './calm-node.ts';

const spec = {
  initContainers: [{ name: 'setup', image: 'setup:1' }],
  containers: [
    { name: 'app', image: 'app:1' },
    { name: 'side', image: 'side:1' },
  ],
  volumes: [{ name: 'scratch', emptyDir: {} }],
};

/** Tells of each call of the runtime once it has had its effect, before its answer arrives. */
function counting(note: (call: string) => void): (runtime: FakeRuntime) => ContainerRuntime {
  return (runtime) =>
    new Proxy(runtime, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        if (name === 'events') return value.bind(target);
        return async (...values: unknown[]): Promise<unknown> => {
          try {
            return await value.apply(target, values);
          } finally {
            note(String(name));
          }
        };
      },
    });
}

async function calmNode(): Promise<CalmNode> {
  return CalmNode.open({ runtime: { lives: ({ config }) => (config.metadata.name === 'setup' ? { runsMs: 100 } : {}) } });
}

/** The calls from the pod's creation until it runs. */
async function callsOfStart(): Promise<string[]> {
  const node = await calmNode();
  let calls: string[] = [];
  node.begin(counting((call) => calls.push(call)));
  await node.advance(2000);
  calls = [];
  node.create('web', spec);
  await node.until(() => node.isRunning('web'));
  return calls;
}

describe('an agent that begins after another one crashed in the middle of a pod’s start', () => {
  it('goes on where that one was, after whichever call of the runtime it ended', async () => {
    const calls = await callsOfStart();
    expect(calls).toEqual(expect.arrayContaining(['runPodSandbox', 'pullImage', 'createContainer', 'startContainer']));
    for (const [at, call] of calls.entries()) {
      const node = await calmNode();
      let seen = -1;
      const noting = counting(() => {
        if (seen >= 0 && seen++ === at) node.crash();
      });
      node.begin(noting);
      await node.advance(2000);
      seen = 0;
      node.create('web', spec);
      await node.advance(1000);
      node.crash();
      node.begin();
      await node.until(() => node.isRunning('web'));
      await node.advance(5000);
      const { initContainerStatuses = [], containerStatuses = [] } = node.pod('web')?.status ?? {};
      const statuses = [...initContainerStatuses, ...containerStatuses];
      const started = node.runtime.history.filter(({ type, what }) => type === 'started' && what === 'container');
      const sandboxes = node.runtime.history.filter(({ type, what }) => type === 'created' && what === 'sandbox');
      expect({
        after: `${at} ${call}`,
        wrong: node.wrong,
        restarts: statuses.map(({ restartCount }) => restartCount),
        started: started.map(({ name }) => name).sort(),
        sandboxes: sandboxes.length,
      }).toEqual({ after: `${at} ${call}`, wrong: [], restarts: [0, 0, 0], started: ['app', 'setup', 'side'], sandboxes: 1 });
      node.delete('web');
      await node.until(() => node.pod('web') === undefined);
      await node.advance(65_000);
      expect([call, await node.left()]).toEqual([call, []]);
    }
  });
});
