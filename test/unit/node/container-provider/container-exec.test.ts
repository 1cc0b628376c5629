import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { sleep } from '../../../../src/base/clock.ts';
import { ContainerProvider, type ContainerProviderOptions } from '../../../../src/node/container-provider/container-provider.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { ConnectedProvider, call } from './connected-provider.ts';

const streams = { tty: false, stdin: undefined, stdout: undefined, stderr: undefined, onResize: () => {} };
const never = new Promise<never>(() => {});

it('a provider can do only what its functions do', () => {
  const runContainer = async (): Promise<number> => 0;
  const bare = new ContainerProvider({ runContainer });
  expect([bare.runInContainer, bare.portForward, bare.getStatsSummary]).toEqual([undefined, undefined, undefined]);
  for (const name of ['execInContainer', 'portForward', 'containerStats']) {
    expect(() => new ContainerProvider({ runContainer, [name]: 7 } as ContainerProviderOptions)).toThrow(
      `Expected \`${name}\` to be a function`,
    );
  }
});

it('a command gets the container, the command, the streams and the pod, and its exit code is told', async () => {
  const calls: unknown[] = [];
  await using world = new ConnectedProvider({
    execInContainer: async ({ name }, command, own, { pod }) => {
      calls.push([name, command, own === streams, pod.metadata.name]);
      return command[0] === 'true' ? undefined : 3;
    },
  });
  const pod = await world.begin();
  const { provider } = world;
  expect(await provider.runInContainer?.(pod, 'app', ['false', 'x'], streams, call)).toBe(3);
  expect(await provider.runInContainer?.(pod, 'app', ['true'], streams, call)).toBe(0);
  expect(calls).toEqual([
    ['app', ['false', 'x'], true, 'web'],
    ['app', ['true'], true, 'web'],
  ]);
});

it('only a container that runs takes a command or a client', async () => {
  await using world = new ConnectedProvider({ execInContainer: async () => 0 });
  const pod = await world.begin('web', { restartPolicy: 'Never' });
  await world.exit(0);
  const refusal = { code: 'ERR_KUBELET_API', message: 'container not found ("app")' };
  await expect(world.provider.runInContainer?.(pod, 'app', ['sh'], streams, call)).rejects.toMatchObject(refusal);
  await expect(world.provider.attachToContainer(pod, 'app', streams, call)).rejects.toMatchObject(refusal);
});

it('a command and a connection end with the run, the kill and the client, and their signals say so', async () => {
  const aborted: string[] = [];
  const until = (what: string, signal: AbortSignal): Promise<never> => {
    signal.addEventListener('abort', () => aborted.push(what));
    return never;
  };
  await using world = new ConnectedProvider({
    execInContainer: (_, [name = ''], __, { signal }) => until(name, signal),
    portForward: (_, port, __, { signal }) => until(`port ${port}`, signal),
  });
  const pod = await world.begin();
  const { provider } = world;
  const client = new AbortController();
  const left = provider.runInContainer?.(pod, 'app', ['left'], streams, { signal: client.signal });
  const cut = provider.runInContainer?.(pod, 'app', ['cut'], streams, call);
  const port = provider.portForward?.(pod, 80, new PassThrough(), call);
  const outcomes = Promise.allSettled([left, cut, port]);
  client.abort(new Error('the client is gone'));
  await settle();
  expect(aborted).toEqual(['left']);
  await world.exit(1);
  expect(aborted).toEqual(['left', 'cut']);
  const deletion = provider.deletePod(pod, { gracePeriodSeconds: 0 });
  await world.clock.advance(0);
  await deletion;
  expect(aborted).toEqual(['left', 'cut', 'port 80']);
  const words = (await outcomes).map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason.message) : 'none'));
  expect(words).toEqual(['the client is gone', 'container "app" in pod "web" has ended', 'pod "web" has ended']);
});

it('a kill of the pod ends a command, while the container has not ended yet', async () => {
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  await using world = new ConnectedProvider({ runContainer: () => ended, execInContainer: () => never });
  const pod = await world.begin();
  const command = expect(world.provider.runInContainer?.(pod, 'app', ['sh'], streams, call)).rejects.toThrow(
    'container "app" in pod "web" is killed',
  );
  const deletion = world.provider.deletePod(pod, { gracePeriodSeconds: 1 });
  await world.clock.advance(1000);
  await command;
  resolve(0);
  await deletion;
});

it.each([
  [
    'throws',
    () => {
      throw new Error('no shell');
    },
    'no shell',
  ],
  ['rejects', async () => Promise.reject(new Error('no shell')), 'no shell'],
  [
    'answers no exit code',
    async () => 'seven' as unknown as number,
    'execInContainer() resolved to seven, which is no exit code',
  ],
])('a function that %s is told of in words', async (_, execInContainer, message) => {
  await using world = new ConnectedProvider({ execInContainer });
  const pod = await world.begin();
  await expect(world.provider.runInContainer?.(pod, 'app', ['sh'], streams, call)).rejects.toThrow(message);
});

it('an attached client types, sees what is written, and gets the exit code', async () => {
  await using world = new ConnectedProvider();
  const pod = await world.begin('web', { containers: [{ name: 'app', image: 'app:1', stdin: true, stdinOnce: true }] });
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const attached = world.provider.attachToContainer(pod, 'app', { ...streams, stdin, stdout }, call);
  world.run.stdin.pipe(world.run.stdout);
  stdin.end('an echo');
  await settle();
  await world.exit(5);
  expect(await attached).toBe(5);
  expect(String(stdout.read())).toBe('an echo');
});

it('a client that leaves is attached no more, and nobody is told an exit code', async () => {
  await using world = new ConnectedProvider();
  const pod = await world.begin();
  const client = new AbortController();
  const attached = world.provider.attachToContainer(pod, 'app', streams, { signal: client.signal });
  client.abort();
  expect(await attached).toBeUndefined();
});

it('a summary has what containers take, of pods and of the node; who does not say it is left out', async () => {
  const silent = ['none', 'late', 'broken', 'odd'];
  await using world = new ConnectedProvider({
    containerStats: async ({ name }, { pod }) => {
      if (name === 'late') return never;
      if (name === 'broken') throw new Error('no cgroup');
      if (name === 'odd') return { cpuNanoseconds: Number.NaN, memoryBytes: -1 };
      if (name === 'none') return undefined;
      return { cpuNanoseconds: 2e9, ...(pod.metadata.name === 'web' && { memoryBytes: 1000 }) };
    },
  });
  await world.begin('web', { containers: ['app', 'more', ...silent].map((name) => ({ name, image: 'app:1' })) });
  await world.begin('job');
  const summary = world.provider.getStatsSummary?.(call);
  await world.clock.advance(5000);
  const time = '2000-01-01T00:00:00Z';
  const startTime = '2000-01-01T00:00:00Z';
  const cpu = (seconds: number) => ({ time, usageCoreNanoSeconds: seconds * 1e9 });
  const memory = (bytes: number) => ({ time, workingSetBytes: bytes, usageBytes: bytes });
  const entry = (name: string) => ({ name, startTime, cpu: cpu(2), memory: memory(1000) });
  const podRef = (name: string) => ({ name, namespace: 'default', uid: name });
  expect(await summary).toEqual({
    node: { nodeName: 'node-1', startTime, cpu: cpu(6), memory: memory(2000) },
    pods: [
      { podRef: podRef('web'), startTime, containers: [entry('app'), entry('more')], cpu: cpu(4), memory: memory(2000) },
      { podRef: podRef('job'), startTime, containers: [{ name: 'app', startTime, cpu: cpu(2) }], cpu: cpu(2) },
    ],
  });
});

it('a figure has the time at which its container was measured, to the millisecond: rates are made of two', async () => {
  await using world = new ConnectedProvider({
    containerStats: async ({ name }) => {
      if (name === 'slow') await sleep(world.clock, 1500, call.signal);
      return { cpuNanoseconds: 1e9 };
    },
  });
  await world.begin('web', { containers: ['app', 'slow'].map((name) => ({ name, image: 'app:1' })) });
  await world.clock.advance(250);
  const summary = world.provider.getStatsSummary?.(call);
  await world.clock.advance(1500);
  const times = (await summary)?.pods[0]?.containers.map(({ cpu }) => cpu?.time);
  expect(times).toEqual(['2000-01-01T00:00:00.250Z', '2000-01-01T00:00:01.750Z']);
});
