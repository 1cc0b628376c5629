import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../src/api/json/types.ts';
import type { StatusManager } from '../../../src/status/status-manager.ts';
import { Harness, settle, testPod } from './status-harness.ts';

// Every operation in every state of a manager: its answer, or the code of its error.

const states = ['idle', 'running', 'stopping', 'stopped'] as const;
type State = (typeof states)[number];
type Operation = (manager: StatusManager, pod: WirePod) => unknown;

const uid = '12345678';
const late = { phase: 'Running', message: 'late' } as const;
const containerID = 'containerd://main';

/** A manager in that state, with a status set before. In state stopping its only request hangs. */
async function managerIn(state: State): Promise<{ h: Harness; pod: WirePod }> {
  const h = new Harness({ started: state !== 'idle' });
  const pod = h.publish(testPod({ spec: { containers: [{ name: 'main' }] } }));
  if (state === 'stopping') h.client.hold();
  h.manager.setPodStatus(pod, {
    phase: 'Running',
    containerStatuses: [
      { name: 'main', containerID, image: 'i', imageID: 'i', ready: false, restartCount: 0, state: { running: {} } },
    ],
  });
  await settle();
  const stopped = state === 'stopping' || state === 'stopped' ? h.manager.stop() : undefined;
  if (state === 'stopped') await stopped;
  expect(h.manager.state).toBe(state);
  return { h, pod };
}

async function outcome(operation: () => unknown): Promise<unknown> {
  try {
    return await operation();
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
}

const always = (value: unknown) => ({ idle: value, running: value, stopping: value, stopped: value });
const untilStop = (value: unknown) => ({ idle: value, running: value, stopping: 'ERR_STOPPED', stopped: 'ERR_STOPPED' });

const table: Readonly<Record<string, [Operation, Readonly<Record<State, unknown>>]>> = {
  start: [(m) => m.start(), { ...untilStop(undefined), running: 'ERR_ALREADY_STARTED' }],
  setPodStatus: [(m, pod) => m.setPodStatus(pod, late), untilStop(true)],
  setContainerReadiness: [(m) => m.setContainerReadiness(uid, containerID, true), untilStop(true)],
  setContainerStartup: [(m) => m.setContainerStartup(uid, containerID, true), untilStop(true)],
  terminatePod: [(m, pod) => m.terminatePod(pod), untilStop(true)],
  removeOrphanedStatuses: [(m) => m.removeOrphanedStatuses(new Set()), untilStop(undefined)],
  reconcile: [(m) => m.reconcile(uid), untilStop(undefined)],
  setPodResizePendingCondition: [(m) => m.resizes.setPodResizePendingCondition(uid, 'Deferred', 'no room', 1), untilStop(true)],
  setPodResizeInProgressCondition: [
    (m) => m.resizes.setPodResizeInProgressCondition(uid, '', '', 1),
    untilStop(expect.objectContaining({ changed: true })),
  ],
  clearPodResizePendingCondition: [(m) => m.resizes.clearPodResizePendingCondition(uid), untilStop(undefined)],
  clearPodResizeInProgressCondition: [(m) => m.resizes.clearPodResizeInProgressCondition(uid), untilStop(expect.anything())],
  backfillPodResizeConditions: [(m, pod) => m.resizes.backfillPodResizeConditions([pod]), untilStop(undefined)],
  flush: [(m) => m.flush({ timeoutMs: 5 }), { ...untilStop({ held: [] }), idle: 'ERR_NOT_STARTED' }],
  getPodStatus: [(m) => m.getPodStatus(uid)?.phase, always('Running')],
  explain: [(m) => m.explain(uid).phase, { idle: 'not-started', running: 'in-sync', stopping: 'in-flight', stopped: 'in-sync' }],
  problems: [(m) => m.problems(), always([])],
  snapshot: [(m) => m.snapshot().state, { idle: 'idle', running: 'running', stopping: 'stopping', stopped: 'stopped' }],
  getPodResizeConditions: [(m) => m.resizes.getPodResizeConditions(uid), always([])],
  isPodResizeDeferred: [(m) => m.resizes.isPodResizeDeferred(uid), always(false)],
  isPodResizeInfeasible: [(m) => m.resizes.isPodResizeInfeasible(uid), always(false)],
  on: [(m) => m.on('synced', () => {}) === m, always(true)],
  once: [(m) => m.once('synced', () => {}) === m, always(true)],
  off: [(m) => m.off('synced', () => {}) === m, always(true)],
  addListener: [(m) => m.addListener('synced', () => {}) === m, always(true)],
  removeListener: [(m) => m.removeListener('synced', () => {}) === m, always(true)],
  listenerCount: [(m) => m.listenerCount('synced'), always(0)],
  setMaxListeners: [(m) => m.setMaxListeners(0) === m, always(true)],
};

const cases = Object.entries(table).flatMap(([verb, [operation, answers]]) =>
  states.map((state) => ({ verb, state, operation, answer: answers[state] })),
);

describe('StatusManager, every operation in every state', () => {
  it.each(cases)('$verb, $state', async ({ operation, answer, state }) => {
    const { h, pod } = await managerIn(state);
    expect(await outcome(() => operation(h.manager, pod))).toEqual(answer);
  });

  it.each(
    cases.filter(({ answer }) => answer === 'ERR_STOPPED'),
  )('$verb, $state: changes nothing, and the error names it', async (one) => {
    const { h, pod } = await managerIn(one.state);
    const before = [h.manager.getPodStatus(uid), h.manager.explain(uid), h.client.actions.length];
    const called = async (): Promise<unknown> => one.operation(h.manager, pod);
    await expect(called()).rejects.toThrow(`${one.verb}() was called on a manager that is ${one.state}`);
    expect([h.manager.getPodStatus(uid), h.manager.explain(uid), h.client.actions.length]).toEqual(before);
    expect(h.manager.resizes.getPodResizeConditions(uid)).toEqual([]);
  });

  it.each(states)('stop, %s', async (state) => {
    const { h } = await managerIn(state);
    h.client.release();
    await h.manager.stop();
    expect([h.manager.state, h.clock.pendingTimers]).toEqual(['stopped', 0]);
    // in state idle nothing was sent; in every other state the status is on the server
    expect(h.client.verbs()).toEqual(state === 'idle' ? [] : ['patch']);
  });

  it('covers every operation of the manager', () => {
    const { manager } = new Harness({ started: false });
    const prototypes = [Object.getPrototypeOf(manager), Object.getPrototypeOf(manager.resizes)];
    const operations = prototypes.flatMap((prototype) => Object.getOwnPropertyNames(prototype));
    const left = operations.filter((name) => !(name in table) && !['constructor', 'state', 'stop'].includes(name));
    expect(left).toEqual([]);
  });
});
