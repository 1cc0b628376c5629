import { describe, expect, it } from 'vitest';
import { PodHeldError } from '../../../../src/node/provider/pod-held-error.ts';
import type { ContainerSpec } from '../../../../src/node/provider/pod-provider.ts';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { ContainerWorld } from '../container-provider/container-world.ts';
import { FakeResolver } from './fake-resolver.ts';
import { ProviderWorld } from './provider-world.ts';

const app = { name: 'app', image: 'app:1' };
const variableOf = (containers: readonly ContainerSpec[] = []) => containers[0]?.env?.[0]?.value;

async function withPod(): Promise<{ world: ProviderWorld; resolver: FakeResolver }> {
  const resolver = new FakeResolver();
  const world = new ProviderWorld({ resolver: resolver.asResolver });
  await world.create('web');
  return { world, resolver };
}

describe('resolvePod of the tools', () => {
  it('gives the values of now, of the newest version of the pod, whatever the provider has of it', async () => {
    const { world, resolver } = await withPod();
    await using _ = world;
    const [entry] = world.provider.pods.values();
    expect(variableOf(entry?.pod.spec?.containers)).toBe('one');
    resolver.value = 'two';
    const pod = await world.tools.resolvePod(entry?.pod ?? {}, { containers: ['app'] });
    expect(variableOf(pod.spec.containers)).toBe('two');
    expect(resolver.asked.at(-1)).toEqual({ containers: ['app'] });
    expect(resolver.held).toBe(0);
  });

  it('gives the pod as it is where the provider wants raw pods', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    const [entry] = world.provider.pods.values();
    expect((await world.tools.resolvePod(entry?.pod ?? {})).spec).toEqual(entry?.pod.spec);
  });

  it('says what is missing with ERR_POD_HELD', async () => {
    const { world, resolver } = await withPod();
    await using _ = world;
    resolver.missing = { container: 'app' };
    const [entry] = world.provider.pods.values();
    const error = await world.tools.resolvePod(entry?.pod ?? {}).catch((one: unknown) => one);
    expect(error).toBeInstanceOf(PodHeldError);
    expect(error).toMatchObject({ code: 'ERR_POD_HELD', held: { kind: 'secret-missing' } });
    expect(String(error)).toContain('secret "db" not found');
  });

  it('refuses pods that the node does not have, and options that are none', async () => {
    const { world } = await withPod();
    await using _ = world;
    const resolve = (pod: object, options?: object) => world.tools.resolvePod(pod, options);
    await expect(resolve(buildPod({ metadata: { uid: 'other' } }))).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' });
    const [entry] = world.provider.pods.values();
    await expect(resolve(entry?.pod ?? {}, { signals: 1 })).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
    await expect(resolve(entry?.pod ?? {}, { signal: 1 })).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
    await world.delete('web', 1);
    await world.clock.advance(5000);
    await expect(resolve(entry?.pod ?? {})).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' });
  });

  it('refuses a pod that has ended by itself', async () => {
    const { world, resolver } = await withPod();
    await using _ = world;
    const [entry] = world.provider.pods.values();
    world.provider.set('web', { phase: 'Succeeded' });
    await world.clock.advance(20_000);
    const asked = resolver.asked.length;
    await expect(world.tools.resolvePod(entry?.pod ?? {})).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' });
    expect(resolver.asked).toHaveLength(asked);
  });

  it('ends with its signal, and when the node stops, and lets go of what comes later', async () => {
    const { world, resolver } = await withPod();
    await using _ = world;
    const { promise, resolve } = Promise.withResolvers<void>();
    resolver.gate = promise;
    const [entry] = world.provider.pods.values();
    const ending = new AbortController();
    const aborted = world.tools.resolvePod(entry?.pod ?? {}, { signal: ending.signal });
    const stopped = world.tools.resolvePod(entry?.pod ?? {});
    const reason = new Error('enough');
    ending.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    world.syncer.stop();
    await expect(stopped).rejects.toMatchObject({ code: 'ERR_STOPPED' });
    await expect(world.tools.resolvePod(entry?.pod ?? {})).rejects.toMatchObject({ code: 'ERR_STOPPED' });
    resolve();
    await settle(20);
    expect(resolver.held).toBe(0);
  });

  it('reads what the pod refers to until the last call that needs it has ended', async () => {
    const resolver = new FakeResolver();
    await using world = new ProviderWorld({ resolver: resolver.asResolver });
    const { promise: created, resolve: end } = Promise.withResolvers<void>();
    world.provider.next('createPod', 'web', async (act) => {
      act();
      await created;
    });
    await world.create('web');
    const gate = Promise.withResolvers<void>();
    resolver.gate = gate.promise;
    const [entry] = world.provider.pods.values();
    const resolved = world.tools.resolvePod(entry?.pod ?? {});
    end();
    await settle(20);
    expect(resolver.log).not.toContain('unregister web');
    gate.resolve();
    await resolved;
    expect(resolver.log.at(-1)).toBe('unregister web');
    expect(resolver.held).toBe(0);
  });
});

describe('a container that is started again', () => {
  async function running(): Promise<{ world: ContainerWorld; resolver: FakeResolver }> {
    const resolver = new FakeResolver();
    const world = new ContainerWorld(undefined, { resolver: resolver.asResolver });
    await world.node.create('web', { spec: { containers: [app, { name: 'other', image: 'app:1' }] } });
    expect(world.run('app').spec.env).toEqual([{ name: 'VALUE', value: 'one' }]);
    return { world, resolver };
  }

  it('gets the values of then', async () => {
    const { world, resolver } = await running();
    await using _ = world;
    resolver.value = 'two';
    await world.exit('app', 0);
    await world.node.clock.advance(60_000);
    expect(world.run('app').spec.env).toEqual([{ name: 'VALUE', value: 'two' }]);
    expect(world.run('app').pod.files).toEqual({});
  });

  it('waits for what is missing, says so, and starts once it is there', async () => {
    const { world, resolver } = await running();
    await using _ = world;
    resolver.missing = { container: 'app' };
    await world.exit('app', 1);
    await world.node.clock.advance(60_000);
    expect(world.running.map(({ name }) => name)).toEqual(['other']);
    const { containerStatuses } = world.node.status('web');
    expect(containerStatuses?.find(({ name }) => name === 'app')).toMatchObject({
      restartCount: 0,
      state: { waiting: { reason: 'CreateContainerConfigError', message: 'secret "db" not found' } },
      lastState: { terminated: { exitCode: 1 } },
    });
    expect(world.node.events.filter((event) => event.includes('secret "db" not found'))).toHaveLength(1);
    expect(world.node.lines.at(-1)).toMatchObject([{ problemKind: 'secret-missing', containerName: 'app' }, /waits for what/]);
    resolver.missing = 'nothing';
    await world.node.clock.advance(10_000);
    expect(world.run('app').spec.env).toEqual([{ name: 'VALUE', value: 'one' }]);
  });

  it('is not held back by what another container lacks, nor by a server that cannot be asked', async () => {
    const { world, resolver } = await running();
    await using _ = world;
    resolver.missing = { container: 'other' };
    await world.exit('app', 0);
    await world.node.clock.advance(60_000);
    await world.exit('app', 0);
    resolver.missing = { container: 'app' };
    resolver.failure = new Error('no connection');
    await world.node.clock.advance(600_000);
    expect(world.run('app').spec.env).toEqual([{ name: 'VALUE', value: 'one' }]);
  });

  it('ends at once while it waits, as it had ended before', async () => {
    const { world, resolver } = await running();
    await using _ = world;
    resolver.missing = { container: 'app' };
    await world.exit('app', 3);
    await world.node.clock.advance(60_000);
    await world.node.delete('web', 30);
    await world.exit('other', 0);
    await world.node.clock.advance(2000);
    expect(world.node.isGone('web')).toBe(true);
  });
});
