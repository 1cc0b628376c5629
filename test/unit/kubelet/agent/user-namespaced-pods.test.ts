import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { NodeWorld } from './node-world.ts';

it('pods with hostUsers: false get ids of their own, keep them over a restart of the agent, and give them back', async () => {
  await using world = await NodeWorld.make({ userNamespaces: true });
  const { rootDirectory } = world.agentOptions();
  const uids = new Map<string, string>();
  const firstOf = async (name: string): Promise<number | undefined> => {
    const uid = world.pod(name)?.metadata?.uid ?? uids.get(name) ?? '';
    uids.set(name, uid);
    const text = await readFile(`${rootDirectory}/pods/${uid}/userns`, 'utf8').catch(() => undefined);
    return text === undefined ? undefined : (JSON.parse(text) as { uidMappings: { hostId: number }[] }).uidMappings[0]?.hostId;
  };
  const agent = world.agent();
  await world.through(agent.start());
  world.create('one', { hostUsers: false });
  world.create('plain');
  await world.pass(2000);
  world.create('two', { hostUsers: false });
  await world.pass(2000);
  expect(world.pod('two')?.status?.phase).toBe('Running');
  expect([await firstOf('one'), await firstOf('plain'), await firstOf('two')]).toEqual([65_536, undefined, 131_072]);
  await world.through(agent.stop());
  const next = world.agent();
  await world.through(next.start());
  world.delete('one', 1);
  await world.pass(10_000);
  expect(world.pod('one')).toBeUndefined();
  world.create('three', { hostUsers: false });
  await world.pass(3000);
  expect([await firstOf('one'), await firstOf('two'), await firstOf('three')]).toEqual([undefined, 131_072, 65_536]);
  await world.through(next.stop());
});

it('a pod with hostUsers: false waits, with its reason, where the runtime has no user namespaces', async () => {
  await using world = await NodeWorld.make();
  const agent = world.agent();
  await world.through(agent.start());
  world.create('web', { hostUsers: false });
  await world.pass(3000);
  const words = 'the pod has hostUsers: false, and the container runtime has no user namespaces';
  expect(agent.explain(world.pod('web')?.metadata?.uid ?? '').problem?.message).toContain(words);
  expect(world.pod('web')?.status?.phase).toBe('Pending');
  await world.through(agent.stop());
});
