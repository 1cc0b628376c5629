import { describe, expect, it } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { ContainerWorld } from './container-world.ts';

const a = { name: 'a', image: 'a:1' };
const b = { name: 'b', image: 'b:1' };
const setup = { name: 'setup', image: 'setup:1' };

/** The agent ends, and another one begins with the same server; what has run in it is in its log. */
async function restarted(first: ContainerWorld): Promise<ContainerWorld> {
  await first.world.clock.advance(5000);
  await first.world.stop();
  const second = new ContainerWorld(first);
  // no time passes: what cannot run any more is not said to run
  await second.world.clock.advance(0);
  await settle(50);
  return second;
}

describe('after a restart of the agent', () => {
  it('a container that had ended for good does not run again, and keeps its end', async () => {
    await using first = new ContainerWorld();
    await first.world.create('job', { spec: { restartPolicy: 'OnFailure', initContainers: [setup], containers: [a, b] } });
    await first.exit('setup', 0);
    await first.exit('a', 0);
    await using it = await restarted(first);
    expect(it.took()).toEqual(['+b']);
    expect(it.world.status('job').containerStatuses).toMatchObject([
      { name: 'a', restartCount: 0, state: { terminated: { exitCode: 0, reason: 'Completed' } } },
      { name: 'b', restartCount: 1, state: { running: {} } },
    ]);
    expect(it.world.status('job').initContainerStatuses).toMatchObject([{ restartCount: 0, state: { terminated: {} } }]);
    await it.exit('b', 0);
    await it.world.clock.advance(1000);
    expect(it.world.status('job').phase).toBe('Succeeded');
    expect(it.world.logged).toEqual([]);
  });

  it("a container's own policy says so too", async () => {
    await using first = new ContainerWorld();
    await first.world.create('web', { spec: { containers: [{ ...a, restartPolicy: 'Never' }, b] } });
    await first.exit('a', 3);
    await using it = await restarted(first);
    expect(it.took()).toEqual(['+b']);
    expect(it.world.status('web').containerStatuses).toMatchObject([{ state: { terminated: { exitCode: 3 } } }, {}]);
  });

  it('each container that runs again has one restart more', async () => {
    await using first = new ContainerWorld();
    await first.world.create('web', { spec: { initContainers: [setup], containers: [a] } });
    await first.exit('setup', 0);
    await using second = await restarted(first);
    expect(second.took()).toEqual(['+setup']);
    expect(second.world.status('web').initContainerStatuses).toMatchObject([{ restartCount: 1, state: { running: {} } }]);
    await using it = await restarted(second);
    await it.exit('setup', 0);
    await it.world.clock.advance(1000);
    expect(it.world.status('web').initContainerStatuses).toMatchObject([{ restartCount: 2, state: { terminated: {} } }]);
    expect(it.world.status('web').containerStatuses).toMatchObject([{ restartCount: 1, state: { running: {} } }]);
  });
});
