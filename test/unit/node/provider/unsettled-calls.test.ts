import { describe, expect, it } from 'vitest';
import { errorCodeOf } from '../../../../src/base/errors.ts';
import { type PodProblem, problemReport } from '../../../../src/base/problem.ts';
import { providedPodProblem } from '../../../../src/node/provider/provider-problems.ts';
import { never, ProviderWorld } from './provider-world.ts';

const help = 'Let createPod heed its signal, so that it settles once that aborts, and see what it waits for.';
const called = 'it was called at 2000-01-01T00:00:00Z, and its signal has aborted at';

function problemOf(world: ProviderWorld): PodProblem | undefined {
  const record = [...world.syncer.pods.all()][0];
  return record && providedPodProblem(record, world.clock.now());
}

/** A world whose `createPod` of the pod `web` settles when `creation` does; its pod is there for as long as the server has it. */
async function hungWorld() {
  const world = new ProviderWorld({ changeTimeoutMs: 20_000 });
  const creation = Promise.withResolvers<void>();
  world.provider.next('createPod', 'web', (act) => creation.promise.then(act));
  await world.create('web', { spec: { terminationGracePeriodSeconds: 45 } });
  const start = world.clock.now();
  return { world, creation, start, [Symbol.asyncDispose]: () => world.stop() };
}

describe('a createPod that does not heed its signal', () => {
  it('is called once, and the problem says since when, what waits for it, and how long a deletion does', async () => {
    await using made = await hungWorld();
    const { world, start } = made;
    await world.clock.advance(19_000);
    expect(problemOf(world)).toBeUndefined();
    await world.clock.advance(600_000);
    expect(world.provider.took()).toEqual(['createPod web']);
    const waits = 'the pod waits for this call, and neither createPod nor updatePod is called for the pod until it settles';
    const deletion = 'a deletion waits for it at most the grace period, 45 s';
    expect(problemOf(world)).toMatchObject({
      kind: 'create-pod',
      message: `createPod() has not settled within 20 s: ${called} 2000-01-01T00:00:20Z; ${waits}; ${deletion}`,
      since: start,
      attempt: 1,
      help,
    });
    expect(problemOf(world)?.retryAt).toBeUndefined();
    const told = world.lines.find(([, text]) => text === 'a call of the provider takes too long; its signal is aborted');
    expect(told?.[0]).toMatchObject({ problemKind: 'create-pod', method: 'createPod', help });
  });

  it('holds a deletion back, and the note says until when, then that deletePod was called all the same', async () => {
    await using made = await hungWorld();
    const { world, start } = made;
    await world.clock.advance(60_000);
    world.provider.next('deletePod', 'web', never);
    await world.delete('web', 40);
    const late = `createPod() has not settled within 20 s: ${called} 2000-01-01T00:00:20Z`;
    const until = 'the deletion of the pod waits for it until 2000-01-01T00:01:40Z, then deletePod is called all the same';
    expect(problemOf(world)).toMatchObject({ message: `${late}; ${until}`, retryAt: start + 100_000, help });
    const note = problemReport([problemOf(world) as PodProblem], world.clock.now()).notes[0];
    expect(note).toBe(`default/web: ${late}; ${until}; next try in 40 s`);
    await world.clock.advance(41_000);
    expect(world.provider.took()).toEqual(['createPod web', 'deletePod web 40']);
    const both = 'deletePod was called all the same, and the end of the pod waits for both until 2000-01-01T00:02:50Z';
    expect(problemOf(world)?.message).toBe(`${late}; ${both}`);
  });

  it('is named while the deletion waits, also before it takes too long itself', async () => {
    await using made = await hungWorld();
    const { world, creation } = made;
    await world.clock.advance(5000);
    await world.delete('web', 10);
    expect(problemOf(world)).toBeUndefined();
    await world.clock.advance(2000);
    expect(problemOf(world)?.message).toBe(
      `createPod() has not settled: ${called} 2000-01-01T00:00:05Z; the deletion of the pod waits for it until 2000-01-01T00:00:15Z, then deletePod is called all the same`,
    );
    creation.resolve();
    await world.clock.advance(1000);
    expect([problemOf(world), world.isGone('web')]).toEqual([undefined, true]);
  });

  it('is not said to go on once it has failed', async () => {
    await using made = await hungWorld();
    const { world, creation } = made;
    await world.clock.advance(30_000);
    creation.reject(new Error('too late'));
    await world.clock.advance(1000);
    expect(problemOf(world)).toMatchObject({ message: 'createPod() has not settled within 20 s; it has settled since', help });
  });

  it('can be told of whatever grace period the pod has', async () => {
    await using made = await hungWorld();
    const { world } = made;
    await world.clock.advance(30_000);
    const record = [...world.syncer.pods.all()][0];
    if (record?.change === undefined) throw new Error('createPod has settled');
    record.change.end = { askedAt: 0, until: Number.MAX_SAFE_INTEGER * 1000, isDeleteCalled: false };
    expect(problemOf(world)?.message).toContain('waits for it until 9999-12-31T23:59:59Z');
  });
});

describe('a pod that still runs when its grace period is over', () => {
  it('is a problem that says so, since when, and what would end it', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    const start = world.clock.now();
    world.provider.next('deletePod', 'web', never);
    await world.delete('web', 10);
    await world.clock.advance(45_000);
    expect(problemOf(world)).toMatchObject({
      kind: 'pod-end',
      message:
        'the pod has not ended although its grace period of 10 s is over: the provider says that it still runs, since 2000-01-01T00:00:10Z',
      since: start + 10_000,
      attempt: 1,
      help: expect.stringContaining('ContainerProvider once its `kill` aborts'),
    });
    await world.clock.advance(60_000);
    expect([problemOf(world), world.isGone('web')]).toEqual([undefined, true]);
  });
});

describe('a getPodStatus that gives no answer in time', () => {
  it('fails with an error of its own: no request to the apiserver has failed', async () => {
    await using world = new ProviderWorld({ callTimeoutMs: 1000 });
    world.provider.next('getPodStatus', 'web', never);
    await world.create('web');
    await world.clock.advance(2000);
    const errors = world.lines.map(([fields]) => (fields as { err?: Error }).err).filter((err) => err !== undefined);
    const causes = errors.flatMap((err) => [errorCodeOf(err), errorCodeOf(err.cause)]);
    expect(causes).toContain('ERR_CALL_TIMEOUT');
    expect(causes).not.toContain('ERR_API');
  });
});
