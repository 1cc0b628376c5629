import { describe, expect, it } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { ContainerWorld } from './container-world.ts';

const a = { name: 'a', image: 'a:1' };
const b = { name: 'b', image: 'b:1' };
const setup = { name: 'setup', image: 'setup:1' };

/** The agent ends, and another one begins with the same server; what has run in it is in its log. */
async function restarted(first: ContainerWorld): Promise<ContainerWorld> {
  await first.node.clock.advance(5000);
  await first.node.stop();
  const second = new ContainerWorld(first);
  // no time passes: what cannot run any more is not said to run
  await second.node.clock.advance(0);
  await settle(50);
  return second;
}

describe('after a restart of the agent', () => {
  it('a container that had ended for good does not run again, and keeps its end', async () => {
    await using first = new ContainerWorld();
    await first.node.create('job', { spec: { restartPolicy: 'OnFailure', initContainers: [setup], containers: [a, b] } });
    await first.exit('setup', 0);
    await first.exit('a', 0);
    await using world = await restarted(first);
    expect(world.took()).toEqual(['+b']);
    expect(world.node.status('job').containerStatuses).toMatchObject([
      { name: 'a', restartCount: 0, state: { terminated: { exitCode: 0, reason: 'Completed' } } },
      { name: 'b', restartCount: 1, state: { running: {} } },
    ]);
    expect(world.node.status('job').initContainerStatuses).toMatchObject([{ restartCount: 0, state: { terminated: {} } }]);
    await world.exit('b', 0);
    await world.node.clock.advance(1000);
    expect(world.node.status('job').phase).toBe('Succeeded');
    expect(world.node.logged).toEqual(['the provider no longer has a pod that ran']);
  });

  it("a container's own policy says so too", async () => {
    await using first = new ContainerWorld();
    await first.node.create('web', { spec: { containers: [{ ...a, restartPolicy: 'Never' }, b] } });
    await first.exit('a', 3);
    await using world = await restarted(first);
    expect(world.took()).toEqual(['+b']);
    expect(world.node.status('web').containerStatuses).toMatchObject([{ state: { terminated: { exitCode: 3 } } }, {}]);
  });

  it('each container that runs again has one restart more', async () => {
    await using first = new ContainerWorld();
    await first.node.create('web', { spec: { initContainers: [setup], containers: [a] } });
    await first.exit('setup', 0);
    await using second = await restarted(first);
    expect(second.took()).toEqual(['+setup']);
    expect(second.node.status('web').initContainerStatuses).toMatchObject([{ restartCount: 1, state: { running: {} } }]);
    await using world = await restarted(second);
    await world.exit('setup', 0);
    await world.node.clock.advance(1000);
    expect(world.node.status('web').initContainerStatuses).toMatchObject([{ restartCount: 2, state: { terminated: {} } }]);
    expect(world.node.status('web').containerStatuses).toMatchObject([{ restartCount: 1, state: { running: {} } }]);
  });
});
