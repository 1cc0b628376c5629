import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { ImagePuller } from '../../../../src/kubelet/images/image-puller.ts';
import { noPodCgroups } from '../../../../src/kubelet/machine/machine.ts';
import { NodeAgent, type NodeAgentOptions } from '../../../../src/kubelet.ts';
import { RestartBackoff } from '../../../../src/node/workers/restart-backoff.ts';
import { FakeRuntime } from '../../../../src/testing.ts';
import { createCertificateAuthority } from '../../../support/certificate-authority.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { unhandledRejectionsOf } from '../../../support/unhandled-rejections.ts';
import { NodeWorld } from './node-world.ts';

const states = ({ runtime }: NodeWorld) =>
  runtime.listContainers().then((all) => all.map(({ metadata, state }) => `${metadata.name}#${metadata.attempt} ${state}`));

describe('start', () => {
  it('registers the node and runs its pods', async () => {
    await using world = await NodeWorld.make();
    world.create('web');
    const agent = world.agent();
    await world.through(agent.start());
    expect(agent.snapshot().registered).toBe(true);
    await world.pass(5000);
    expect(await states(world)).toEqual(['app#0 running']);
    expect(world.pod('web')?.status).toMatchObject({ phase: 'Running', podIP: expect.stringMatching(/^10\.244\./) });
    expect(agent.snapshot()).toMatchObject({ state: 'running', ready: true, notes: [], runtime: { name: 'fake' } });
    await world.through(agent.stop());
    expect(world.warnings).toEqual([]);
  });

  it('says what makes it impossible', async () => {
    await using world = await NodeWorld.make();
    const createBase = () => Promise.reject(new Error('the cgroup /kubepods cannot be made'));
    const agent = world.agent({ cgroups: { ...noPodCgroups, createBase } });
    await expect(world.through(agent.start())).rejects.toThrow('the cgroup /kubepods cannot be made');
    await world.through(agent.stop());
    expect(world.timersLeft).toBe(0);
  });

  it('says after its time what it waits for, and goes on', async () => {
    await using world = await NodeWorld.make();
    world.weather.server = 'down';
    const agent = world.agent();
    const start = world.through(agent.start({ timeoutMs: 3000 }));
    await expect(start).rejects.toMatchObject({
      code: 'ERR_START_TIMEOUT',
      message: expect.stringContaining('the node object is not registered'),
    });
    world.weather.server = 'well';
    await world.pass(60_000);
    expect(agent.snapshot().registered).toBe(true);
    await world.through(agent.stop());
  });

  it('tells the cluster of the port that the API has got', async () => {
    await using world = await NodeWorld.make();
    const folder = await tempDir();
    const { cert, key } = createCertificateAuthority('serving').issue();
    const files = { tlsCertFile: join(folder, 'tls.crt'), tlsPrivateKeyFile: join(folder, 'tls.key') };
    await Promise.all([writeFile(files.tlsCertFile, cert), writeFile(files.tlsPrivateKeyFile, key)]);
    const agent = world.agent({ server: { ...files, address: '127.0.0.1', port: 0 } });
    await world.throughSockets(agent.start());
    const port = agent.nodeObject.node?.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
    expect(port).toBeGreaterThan(0);
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
    await world.throughSockets(agent.stop());
  });

  it('can be made once', async () => {
    await using world = await NodeWorld.make();
    const agent = world.agent();
    await world.through(agent.start());
    await expect(agent.start()).rejects.toMatchObject({ code: 'ERR_ALREADY_STARTED' });
    await world.through(agent.stop());
    await expect(agent.start()).rejects.toMatchObject({ code: 'ERR_STOPPED' });
  });
});

describe('stop', () => {
  it('leaves pods running, no timer and nobody who asks', async () => {
    await using world = await NodeWorld.make();
    world.create('web');
    const agent = world.agent();
    await world.through(agent.start());
    await world.pass(5000);
    const stopped = agent.stop();
    expect(agent.stop()).toBe(stopped);
    await world.through(stopped);
    expect([agent.state, world.timersLeft]).toEqual(['stopped', 0]);
    world.requests.length = 0;
    world.runtime.clearCalls();
    await world.pass(120_000);
    expect([world.requests, world.runtime.calls]).toEqual([[], []]);
    expect(await states(world)).toEqual(['app#0 running']);
  });

  it('ends the pods where it is told to', async () => {
    await using world = await NodeWorld.make();
    world.create('web');
    const agent = world.agent();
    await world.through(agent.start());
    await world.pass(5000);
    await world.through(agent.stop({ leavePodsRunning: false }));
    expect(await states(world)).toEqual(['app#0 exited']);
    expect(world.timersLeft).toBe(0);
  });

  it('ends a start that waits', async () => {
    await using world = await NodeWorld.make();
    world.weather.server = 'down';
    const agent = world.agent();
    const start = agent.start();
    start.catch(() => {});
    await world.pass(5000);
    await world.through(agent.stop({ timeoutMs: 5000 }));
    await expect(start).rejects.toMatchObject({ code: 'ERR_STOPPED' });
  });

  it("keeps a quarter of its time for the node's object", async () => {
    await using world = await NodeWorld.make();
    const agent = world.agent();
    const workers = vi.spyOn(agent.podWorkers, 'stop');
    const statuses = vi.spyOn(agent.statusManager, 'stop');
    const object = vi.spyOn(agent.nodeObject, 'stop');
    await world.through(agent.stop({ timeoutMs: 40_000, callsTimeoutMs: 35_000, drainTimeoutMs: 35_000 }));
    expect(workers).toHaveBeenCalledWith({ timeoutMs: 30_000 });
    expect(statuses).toHaveBeenCalledWith({ drainTimeoutMs: 30_000 });
    expect(object).toHaveBeenCalledWith({ timeoutMs: 40_000 });
  });

  it('comes to its end although cgroups never settle', async () => {
    await using world = await NodeWorld.make();
    world.create('web');
    const never = (): Promise<never> => new Promise(() => {});
    const agent = world.agent({ cgroups: { ...noPodCgroups, updateClasses: never, removePod: never, ensurePod: never } });
    await world.through(agent.start());
    await world.pass(10_000);
    const rejections = await unhandledRejectionsOf(async () => {
      await world.through(agent.stop({ timeoutMs: 5000 }), 60_000);
    });
    expect([rejections, agent.state]).toEqual([[], 'stopped']);
  });
});

describe('a new agent', () => {
  it.each(['stopped', 'still there, as after a crash'])('adopts what runs; the one before is %s', async (how) => {
    await using world = await NodeWorld.make();
    world.create('web');
    const first = world.agent();
    await world.through(first.start());
    await world.pass(5000);
    const before = world.pod('web')?.status;
    if (how === 'stopped') await world.through(first.stop());
    const second = world.agent();
    await world.through(second.start());
    await world.pass(30_000);
    expect(await states(world)).toEqual(['app#0 running']);
    expect(world.pod('web')?.status).toEqual(before);
    await world.through(second.stop());
    await world.through(first.stop());
  });

  it('ends what runs of a pod that was deleted meanwhile, and removes all that is left of it', async () => {
    await using world = await NodeWorld.make();
    world.create('web');
    const first = world.agent();
    await world.through(first.start());
    await world.pass(5000);
    await world.through(first.stop());
    world.delete('web', 0);
    const second = world.agent();
    await world.through(second.start());
    await world.pass(10_000);
    expect(await states(world)).toEqual([]);
    expect(await world.runtime.listPodSandboxes()).toEqual([]);
    expect(await readdir(world.logsFolder)).toEqual([]);
    await world.through(second.stop());
  });
});

describe('a pod that is deleted', () => {
  it('leaves no container, no sandbox and no log folder for longer than two looks at all pods', async () => {
    await using world = await NodeWorld.make();
    world.create('web');
    const agent = world.agent();
    await world.through(agent.start());
    await world.pass(5000);
    expect(await readdir(world.logsFolder)).toEqual([expect.stringMatching(/^default_web_/)]);
    world.delete('web', 5);
    await world.pass(1000);
    expect(world.pod('web')).toBeUndefined();
    await world.pass(4000);
    expect([await states(world), await world.runtime.listPodSandboxes(), await readdir(world.logsFolder)]).toEqual([[], [], []]);
    await world.through(agent.stop());
  });

  it('by force, at once, costs no request once the agent knows, however long it takes to end', async () => {
    await using world = await NodeWorld.make({ lives: () => ({ stopTakesMs: 10_000 }) });
    world.create('web', { terminationGracePeriodSeconds: 30 });
    const agent = world.agent();
    await world.through(agent.start());
    await world.pass(5000);
    world.delete('web', 0);
    await world.pass(200);
    expect(agent.podManager.getPods()).toEqual([]);
    world.requests.length = 0;
    await world.pass(30_000);
    expect(await states(world)).toEqual([]);
    expect(world.requests.filter((request) => request.includes('/pods/'))).toEqual([]);
    expect(world.warnings).toEqual([]);
    await world.through(agent.stop());
  });
});

describe('a pod that is over and not deleted', () => {
  it('keeps its container and its logs', async () => {
    await using world = await NodeWorld.make({ lives: () => ({ runsMs: 1000, exitCode: 0 }) });
    world.create('job', { restartPolicy: 'Never' });
    const agent = world.agent();
    await world.through(agent.start());
    await world.pass(200_000);
    expect(world.pod('job')?.status?.phase).toBe('Succeeded');
    expect(await states(world)).toEqual(['app#0 exited']);
    expect(await readdir(world.logsFolder)).toEqual([expect.stringMatching(/^default_job_/)]);
    await world.through(agent.stop());
  });
});

describe('the options', () => {
  const good = { transport: {} as NodeAgentOptions['transport'], nodeName: 'n', runtime: new FakeRuntime() };

  it.each([
    [{ nodename: 'n' }, 'nodename'],
    [{ nodeName: '' }, 'nodeName'],
    [{ runtime: {} }, 'runtime'],
    [{ runtime: Object.assign(new FakeRuntime(), { removeContainer: undefined }) }, 'runtime'],
    [{ transport: undefined }, 'kubeConfig'],
    [{ random: 1 }, 'random'],
    [{ clock: {} }, 'clock'],
    [{ server: { port: 70_000, tlsCertFile: 'a', tlsPrivateKeyFile: 'b' } }, 'server.port'],
    [{ server: { tlsCertFile: 'a', tlsPrivateKeyFile: 'b', tlsMinVersion: 'TLSv1' } }, 'server.tlsMinVersion'],
    [{ server: { tlsCertFile: 'a', tlsPrivateKeyFile: 'b', tlsCipherSuites: ['a'] } }, 'server.tlsCipherSuites'],
    [{ server: { tlsCertFile: 'a', tlsPrivateKeyFile: 'b', enableDebuggingHandlers: 'no' } }, 'enableDebuggingHandlers'],
    [{ imagePullCredentialsVerificationPolicy: 'NeverVerifyAllowlistedImages' }, 'imagePullCredentialsVerificationPolicy'],
    [{ sources: { api: {} } }, 'sources'],
    [{ removeOnStop: 'yes' }, 'removeOnStop'],
    [{ statusManager: { podClient: {} } }, 'podClient'],
  ])('are checked: %o', (bad, name) => {
    const make = () => new NodeAgent({ ...good, ...bad } as NodeAgentOptions);
    expect(make).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringContaining(name) }));
  });

  it.each([{ leavePodsRunning: 1 }, { timeoutMs: -1 }, { patience: 1 }])('of stop are checked: %o', async (bad) => {
    await using world = await NodeWorld.make();
    await expect(world.agent().stop(bad as object)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
  });
});

describe('what is counted and kept of pods and images', () => {
  it('is looked at again and again, so that it goes when it is needed no more', async () => {
    await using world = await NodeWorld.make();
    const restarts = vi.spyOn(RestartBackoff.prototype, 'gc');
    const pulls = vi.spyOn(ImagePuller.prototype, 'forgetWaits');
    const images = vi.spyOn(ImagePuller.prototype, 'forgetImages');
    const agent = world.agent({ imageGCHighThresholdPercent: 85 });
    await world.through(agent.start());
    await world.pass(10_000);
    expect(restarts.mock.calls.length).toBeGreaterThan(1);
    expect(pulls.mock.calls.length).toBeGreaterThan(1);
    expect(images).toHaveBeenCalledTimes(1);
    await expect(images.mock.calls[0]?.[0]()).resolves.toBeInstanceOf(Set);
    await world.through(agent.stop());
    vi.restoreAllMocks();
  });
});
