import { describe, expect, it } from 'vitest';
import { buildPod } from '../../../../src/testing.ts';
import { NodeWorld } from './node-world.ts';

const calm = { evictionHard: {}, imageGCHighThresholdPercent: 100 };

describe('NodeAgent.explain', () => {
  it('answers in every state, also for a pod that nobody knows', async () => {
    await using world = await NodeWorld.make();
    world.create('web');
    const agent = world.agent(calm);
    const unknown = { podUID: 'nobody', namespace: '', name: '', source: undefined, problem: undefined, problems: [] };
    expect(agent.explain('nobody')).toMatchObject({ ...unknown, status: { phase: 'unknown' } });
    await world.through(agent.start());
    await world.pass(5000);
    const podUID = world.pod('web')?.metadata?.uid ?? '';
    expect(agent.explain(podUID)).toMatchObject({
      ...{ podUID, namespace: 'default', name: 'web', source: 'api', phase: 'Running', problem: undefined, problems: [] },
      ...{ couldRun: true, isTerminationRequested: false, worker: { state: 'sync' }, status: { phase: 'in-sync' } },
      sourceReport: { name: 'api', hasSent: true },
    });
    expect(agent.explain(podUID).nextSyncAt).toBeGreaterThan(agent.snapshot().at);
    expect(() => agent.explain('')).toThrow('podUID');
    await world.through(agent.stop());
    expect(agent.explain(podUID)).toMatchObject({ name: 'web', problem: undefined });
  });

  it('has all that is wrong, the most telling first', async () => {
    await using world = await NodeWorld.make({ exec: () => ({ exitCode: 1 }) });
    const readinessProbe = { exec: { command: ['check'] }, periodSeconds: 1, failureThreshold: 1 };
    const app = { name: 'app', image: 'app:1', imagePullPolicy: 'IfNotPresent', readinessProbe };
    const other = { name: 'other', image: 'no-such-image:1' };
    const agent = world.agent(calm);
    await world.through(agent.start());
    world.create('web', { containers: [app, other] });
    await world.pass(8000);
    const { problem, problems } = agent.explain(world.pod('web')?.metadata?.uid ?? '');
    expect(problems.map(({ kind }) => kind)).toEqual(['image-not-found', 'readiness-probe']);
    expect(problem).toBe(problems[0]);
    expect(agent.snapshot().problems).toEqual(problems);
    expect(agent.snapshot().pods?.[0]?.problem).toEqual(problem);
    expect(JSON.parse(JSON.stringify(problem))).toMatchObject({ kind: 'image-not-found', podName: 'web' });
    await world.through(agent.stop());
  });
});

describe('the snapshot of a node agent', () => {
  it('says why nothing is done before the start and after the stop', async () => {
    await using world = await NodeWorld.make();
    const agent = world.agent(calm);
    expect(agent.snapshot()).toMatchObject({ notes: ['the node agent is idle'], problemCount: 1 });
    expect(agent.snapshot().problems).toMatchObject([{ kind: 'not-started', help: 'Call start().' }]);
    await world.through(agent.stop());
    expect(agent.snapshot()).toMatchObject({ notes: ['the node agent is stopped'], problems: [{ kind: 'stopped' }] });
  });

  it('begins with what the client certificate lacks, and one that throws ends nothing', async () => {
    await using world = await NodeWorld.make();
    const lacks = { kind: 'certificate-pending', message: 'the node has no client certificate', attempt: 0 };
    const agent = world.agent({ ...calm, clientCertificate: { problem: () => lacks } });
    await world.through(agent.start());
    expect(agent.snapshot().problems[0]).toMatchObject(lacks);
    await world.through(agent.stop());
    expect(() => world.agent({ ...calm, clientCertificate: {} as never })).toThrow('`clientCertificate`');
  });

  it('lists the pods of which no status was told, at most a thousand, each since it was heard of', async () => {
    await using world = await NodeWorld.make();
    const agent = world.agent(calm);
    const annotations = { 'kubernetes.io/config.seen': '2026-01-01T00:00:00.5Z' };
    for (let i = 0; i < 1200; i += 1)
      agent.podManager.addPod(buildPod({ metadata: { name: `p${i}`, uid: `u${i}`, annotations } }));
    const { podsWithoutStatus } = agent.snapshot({ pods: false });
    expect(podsWithoutStatus).toHaveLength(1000);
    const since = Date.UTC(2026, 0, 1) + 500;
    expect(podsWithoutStatus[0]).toEqual({ podUID: 'u0', podNamespace: 'default', podName: 'p0', since });
    await world.through(agent.stop());
  });
});
