import { setImmediate as nextTurn } from 'node:timers/promises';
import { LoadAgent } from './agent.ts';

export interface PhaseResult {
  readonly name: string;
  readonly updates: number;
  readonly requests: number;
  readonly seconds: number;
  /** Heap in use after a garbage collection: after the warm-up, and at the end. */
  readonly heapWarmMB: number;
  readonly heapEndMB: number;
  readonly outOfStep: number;
}

const updatesPerTurn = 500;

function heapMB(): number {
  if (globalThis.gc === undefined) throw new Error('Run this with --expose-gc: the heap is measured after collections');
  globalThis.gc();
  return process.memoryUsage().heapUsed / 1e6;
}

/** Sets `updates` statuses over `podCount` pods, as fast as it can. */
export async function steadyLoad(podCount: number, updates: number): Promise<PhaseResult> {
  const agent = new LoadAgent();
  agent.addPods(podCount, 'p');
  const warmUp = Math.ceil(updates / 5);
  const begun = performance.now();
  let heapWarmMB = 0;
  let requests = 0;
  for (let mark = 0; mark < updates; mark++) {
    const pod = agent.pods[(mark * 7919) % podCount];
    if (pod !== undefined) agent.set(pod, mark);
    if (mark % updatesPerTurn === 0) {
      await nextTurn();
      requests += agent.client.actions.length;
      agent.client.clearActions();
    }
    if (mark === warmUp) {
      await agent.manager.flush();
      heapWarmMB = heapMB();
    }
  }
  await agent.manager.flush();
  requests += agent.client.actions.length;
  agent.client.clearActions();
  const seconds = (performance.now() - begun) / 1000;
  const result = { updates, requests, seconds, heapWarmMB, heapEndMB: heapMB(), outOfStep: agent.outOfStep().length };
  await agent.stop();
  return { name: `${podCount} pods, ${updates} updates`, ...result };
}

/** Creates pods, sets a status for each and removes them, until `uids` pods have lived. */
export async function churn(uids: number, atOnce: number): Promise<PhaseResult> {
  const agent = new LoadAgent();
  const begun = performance.now();
  let [heapWarmMB, requests, outOfStep] = [0, 0, 0];
  const generations = Math.ceil(uids / atOnce);
  for (let generation = 0; generation < generations; generation++) {
    agent.addPods(atOnce, `g${generation}-`);
    for (const pod of agent.pods) agent.set(pod, generation);
    await agent.manager.flush();
    outOfStep += agent.outOfStep().length;
    agent.removePods();
    requests += agent.client.actions.length;
    agent.client.clearActions();
    if (generation === Math.floor(generations / 5)) heapWarmMB = heapMB();
  }
  const seconds = (performance.now() - begun) / 1000;
  const result = { updates: generations * atOnce, requests, seconds, heapWarmMB, heapEndMB: heapMB(), outOfStep };
  await agent.stop();
  return { name: `churn of ${generations * atOnce} uids`, ...result };
}

/** Runs many managers in one process, each with its own pods. */
export async function manyManagers(managers: number, podsEach: number, rounds: number): Promise<PhaseResult> {
  const agents = Array.from({ length: managers }, () => new LoadAgent());
  const begun = performance.now();
  agents.forEach((agent, index) => {
    agent.addPods(podsEach, `m${index}-`);
  });
  let heapWarmMB = 0;
  for (let round = 0; round < rounds; round++) {
    for (const agent of agents) for (const pod of agent.pods) agent.set(pod, round);
    await Promise.all(agents.map((agent) => agent.manager.flush()));
    if (round === Math.floor(rounds / 5)) heapWarmMB = heapMB();
  }
  const requests = agents.reduce((sum, agent) => sum + agent.client.actions.length, 0);
  for (const agent of agents) agent.client.clearActions();
  const seconds = (performance.now() - begun) / 1000;
  const outOfStep = agents.reduce((sum, agent) => sum + agent.outOfStep().length, 0);
  const result = { updates: managers * podsEach * rounds, requests, seconds, heapWarmMB, heapEndMB: heapMB(), outOfStep };
  await Promise.all(agents.map((agent) => agent.stop()));
  return { name: `${managers} managers of ${podsEach} pods`, ...result };
}

/** Sets one pod in a tight loop that yields to the event loop every 500 updates. */
export function flood(updates: number): Promise<PhaseResult> {
  return steadyLoad(1, updates).then((result) => ({ ...result, name: `flood of one pod, ${updates} updates` }));
}
