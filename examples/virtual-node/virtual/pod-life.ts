import { pause } from '../pause.ts';
import type { VirtualContainer } from './virtual-container.ts';
import type { VirtualPod } from './virtual-pod.ts';

/** The events of a pod's life: state changes of its containers, and probe results. */
export interface LifeEvents {
  changed(pod: VirtualPod): void;
  startupChanged(pod: VirtualPod, container: VirtualContainer): void;
  readinessChanged(pod: VirtualPod, container: VirtualContainer): void;
  crashed(pod: VirtualPod): void;
}

/** Plays a pod's life, from the pull of its images to the end of its work, if it has one. Returns early on the abort signal. */
export async function live(pod: VirtualPod, events: LifeEvents): Promise<void> {
  const { random } = pod;
  const { signal } = pod.life;
  if (!(await pause(random.between(50, 600), signal))) return;
  pod.ip = `10.${Math.floor(random.between(0, 256))}.${Math.floor(random.between(0, 256))}.${Math.floor(random.between(1, 255))}`;
  events.changed(pod);
  if (!(await initialize(pod, events))) return;
  if (!(await startAll(pod, pod.containers, events))) return;
  if (pod.kind === 'flapping') await flap(pod, events);
  else if (pod.kind === 'crashing') await crash(pod, events);
  else if (pod.kind === 'job') await work(pod, events);
}

/** Runs the init containers one after another; starts a sidecar and leaves it running. */
async function initialize(pod: VirtualPod, events: LifeEvents): Promise<boolean> {
  for (const container of pod.initContainers) {
    if (container.isSidecar) {
      if (!(await startAll(pod, [container], events))) return false;
      continue;
    }
    container.start();
    events.changed(pod);
    if (!(await pause(pod.random.between(100, 500), pod.life.signal))) return false;
    container.exit(0);
    events.changed(pod);
  }
  return true;
}

/** Starts the containers together; then the startup probe of each succeeds, and its readiness probe. */
async function startAll(pod: VirtualPod, containers: readonly VirtualContainer[], events: LifeEvents): Promise<boolean> {
  for (const container of containers) container.start();
  events.changed(pod);
  for (const container of containers) {
    if (!(await pause(pod.random.between(50, 300), pod.life.signal))) return false;
    container.started = true;
    events.startupChanged(pod, container);
    if (!(await pause(pod.random.between(50, 500), pod.life.signal))) return false;
    container.ready = true;
    events.readinessChanged(pod, container);
  }
  return true;
}

async function flap(pod: VirtualPod, events: LifeEvents): Promise<void> {
  while (await pause(pod.random.between(300, 2000), pod.life.signal)) {
    const container = pod.random.pick(pod.containers);
    if (container === undefined) return;
    container.ready = !container.ready;
    events.readinessChanged(pod, container);
  }
}

/** The app fails, waits longer each time, and starts again. */
async function crash(pod: VirtualPod, events: LifeEvents): Promise<void> {
  const [app] = pod.containers;
  for (let backOffMs = 400; app !== undefined; backOffMs = Math.min(backOffMs * 2, 5000)) {
    if (!(await pause(pod.random.between(400, 2500), pod.life.signal))) return;
    app.exit(1);
    events.crashed(pod);
    events.changed(pod);
    if (!(await pause(50, pod.life.signal))) return;
    app.backOff();
    events.changed(pod);
    if (!(await pause(backOffMs, pod.life.signal))) return;
    if (!(await startAll(pod, [app], events))) return;
  }
}

/** The containers work for a while and end; with `OnFailure` a failed run is followed by a successful one. */
async function work(pod: VirtualPod, events: LifeEvents): Promise<void> {
  for (let failed = pod.random.chance(0.4); ; failed = false) {
    if (!(await pause(pod.random.between(500, 3000), pod.life.signal))) return;
    for (const container of pod.containers) container.exit(failed ? 1 : 0);
    if (failed) events.crashed(pod);
    events.changed(pod);
    if (!failed || pod.restartPolicy === 'Never') return;
    if (!(await pause(200, pod.life.signal))) return;
    if (!(await startAll(pod, pod.containers, events))) return;
  }
}
