import { describe, expect, it } from 'vitest';
import { ContainerProvider } from '../../../../src/node/container-provider/container-provider.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { ContainerWorld } from './container-world.ts';

const message = 'a container has ended and will be started again';
const isWell = 'a container that had failed is well again';

/** The container of the pod ends, and then time passes. */
async function ends(world: ContainerWorld, how: number | Error | undefined, ms: number): Promise<void> {
  const run = world.run('app');
  if (typeof how === 'object' || how === undefined) run.fail(how);
  else run.exit(how);
  await settle(20);
  await world.node.clock.advance(ms);
}

const uidOf = (world: ContainerWorld): string => world.node.store.get('default', 'web').metadata?.uid ?? '';

describe('a container that ends again and again', () => {
  it('has a log line for each end, with the words of the problem that its pod has', async () => {
    await using world = new ContainerWorld();
    await world.node.create('web');
    await ends(world, 3, 5000);
    const names = { podUID: uidOf(world), podNamespace: 'default', podName: 'web', containerName: 'app' };
    expect(world.node.lines).toEqual([[{ ...names, exitCode: 3, attempt: 1, retryInMs: 0 }, message]]);
    const error = new Error('no disk');
    await ends(world, error, 1000);
    const problem = world.node.statusManager.explain(names.podUID).problem;
    expect(problem?.message).toMatch(
      /^the container app waits: CrashLoopBackOff: back-off 10s restarting failed container=app .*; it ended last with exit code 128 \(StartError\): no disk$/,
    );
    expect(world.node.lines[1]).toEqual([
      {
        ...{ err: error, ...names, exitCode: 128, attempt: problem?.attempt, retryInMs: 10_000 },
        ...{ problemKind: 'crash-loop-back-off', help: problem?.help },
      },
      message,
    ]);
    expect([problem?.attempt, problem?.kind, typeof problem?.help]).toEqual([2, 'crash-loop-back-off', 'string']);
    await world.node.clock.advance(10_000);
    await ends(world, undefined, 1000);
    expect(world.node.lines[2]?.[0]).toMatchObject({ err: 'undefined was thrown', attempt: 3, retryInMs: 20_000 });
    expect(world.node.lines.length).toBe(3);
  });

  it('has one line when it is over: once it has run for as long as its next wait, or has succeeded for good', async () => {
    await using world = new ContainerWorld();
    const { clock, lines } = world.node;
    const told = () => world.node.infos.filter(([, text]) => text === isWell);
    await world.node.create('web', { spec: { restartPolicy: 'OnFailure' } });
    const names = { podUID: uidOf(world), podNamespace: 'default', podName: 'web', containerName: 'app' };
    await clock.advance(600_000);
    await ends(world, 1, 5000);
    await ends(world, 1, 12_000);
    expect([told(), lines.length]).toEqual([[], 2]);
    // the next wait takes 20 s
    await clock.advance(17_000);
    expect(told()).toEqual([]);
    await clock.advance(2000);
    expect(told()).toEqual([[{ ...names, attempt: 2, failingForMs: 35_000 }, isWell]]);
    await clock.advance(600_000);
    await ends(world, 1, 1000);
    await ends(world, 0, 100_000);
    expect(told().slice(1)).toEqual([[{ ...names, attempt: 1, failingForMs: expect.any(Number) }, isWell]]);
  });

  it('has no such line where it fails again before, or is asked to end', async () => {
    await using world = new ContainerWorld();
    await world.node.create('web');
    await ends(world, 1, 9000);
    await ends(world, 1, 11_000);
    await ends(world, 1, 21_000);
    await world.node.delete('web', 600);
    await world.node.clock.advance(300_000);
    expect(world.running.length).toBe(1);
    expect(world.node.infos.filter(([, text]) => text === isWell)).toEqual([]);
  });

  it("has a kubelet's events", async () => {
    await using world = new ContainerWorld();
    await world.node.create('web');
    await ends(world, 1, 1000);
    await ends(world, new Error('no disk'), 11_000);
    await ends(world, 0, 1000);
    const started = 'web Normal Started: Container started';
    const waits = `web Warning BackOff: Back-off restarting failed container app in pod web_default(${uidOf(world)})`;
    expect(world.node.events).toEqual([started, started, 'web Warning Failed: Error: no disk', waits, started, waits]);
  });

  it('was not started where it fails at once, and nobody is told of one that fails as it was asked to end', async () => {
    const provider = new ContainerProvider({
      runContainer: ({ name }, { stop }) => {
        if (name === 'bad') throw new Error('no image');
        return new Promise((_, reject) => stop.addEventListener('abort', () => reject(new Error('aborted'))));
      },
    });
    const events: string[] = [];
    provider.notifyPods(() => {}, {
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      eventRecorder: { event: (_, _type, reason, text, path) => void events.push(`${path} ${reason}: ${text}`) },
    });
    const metadata = { uid: 'u', name: 'web', namespace: 'default' };
    provider.createPod({ metadata, spec: { containers: [{ name: 'bad' }, { name: 'good' }] } });
    const badWaits = 'spec.containers{bad} BackOff: Back-off restarting failed container bad in pod web_default(u)';
    await until(() => events.includes(badWaits));
    await provider.close();
    const failed = 'spec.containers{bad} Failed: Error: no image';
    expect(events.toSorted()).toEqual([badWaits, failed, failed, 'spec.containers{good} Started: Container started']);
  });

  it('writes one line a second where it need not wait', async () => {
    let runs = 0;
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    const lines: string[] = [];
    let elapsed = 0;
    const provider = new ContainerProvider({
      runContainer: async () => {
        runs += 1;
        elapsed += 100;
        if (runs === 50) resolve();
        return 1;
      },
      backoff: { baseMs: 0, maxMs: 0 },
      clock: { now: () => 0, elapsed: () => elapsed, setTimer: () => () => {} },
    });
    const warn = (_: object, text: string): void => void lines.push(text);
    const logger = { debug() {}, info() {}, warn, error() {} };
    provider.notifyPods(() => {}, { logger, eventRecorder: { event() {} } });
    const metadata = { uid: 'u', name: 'web', namespace: 'default' };
    provider.createPod({ metadata, spec: { containers: [{ name: 'app' }] } });
    await enough;
    await provider.close();
    expect(lines.every((line) => line === message)).toBe(true);
    expect(lines.length).toBeGreaterThanOrEqual(5);
    expect(lines.length).toBeLessThanOrEqual(runs / 10 + 1);
  });

  it('writes nothing of a run that has succeeded once, and is started again at once', async () => {
    await using world = new ContainerWorld();
    await world.node.create('web');
    await ends(world, 0, 1000);
    expect(world.node.lines).toEqual([]);
    await ends(world, 0, 1000);
    expect(world.node.lines).toMatchObject([[{ exitCode: 0, problemKind: 'crash-loop-back-off', retryInMs: 10_000 }, message]]);
  });
});
