import { isTerminalPhase, podUIDOf } from '../../../../../src/api/pod/pod-identity.ts';
import { isMirrorPod, type Pod, type WireContainerStatus, type WirePod } from '../../../../../src/index.ts';
import type { ContainerRecord } from '../runtime/records.ts';
import type { SimulatedRuntime } from '../runtime/simulated-runtime.ts';

export interface WantedPods {
  /** All pods of the server. */
  readonly server: readonly WirePod[];
  readonly statics: readonly Pod[];
}

/** Where the server and the runtime differ from what is wanted, and from each other. */
export function whatIsOutOfStep({ server, statics }: WantedPods, runtime: SimulatedRuntime, nowMs: number): string[] {
  const ordinary = server.filter((pod) => !isMirrorPod(pod));
  const mirrors = server.filter(isMirrorPod);
  const wanted = new Map([...ordinary, ...statics].map((pod) => [podUIDOf(pod), pod]));
  const strays = runtime.runningPods().filter(({ uid }) => !wanted.has(uid));
  const wrong = strays.map(({ uid, name }) => `${name} (${uid}) runs, and nobody wants it`);
  for (const uid of runtime.finishedPods()) if (!wanted.has(uid)) wrong.push(`records of ${uid} are left`);
  for (const pod of ordinary) wrong.push(...differences(pod, pod, runtime, nowMs));
  for (const pod of statics) {
    const mirror = mirrors.find(({ metadata }) => metadata?.name === pod.metadata?.name);
    const hash = mirror?.metadata?.annotations?.['kubernetes.io/config.mirror'];
    if (hash !== pod.metadata?.annotations?.['kubernetes.io/config.hash'])
      wrong.push(`${pod.metadata?.name} has the mirror pod ${hash}`);
    else if (mirror !== undefined) wrong.push(...differences(pod, mirror, runtime, nowMs));
  }
  const orphans = mirrors.filter(({ metadata }) => !statics.some((pod) => pod.metadata?.name === metadata?.name));
  return [...wrong, ...orphans.map(({ metadata }) => `${metadata?.name} is the mirror pod of no static pod`)];
}

/** What the server shows of a pod that should be there and run. */
function differences(pod: Pod, shown: WirePod, runtime: SimulatedRuntime, nowMs: number): string[] {
  const name = `${pod.metadata?.name} (${podUIDOf(pod)})`;
  if (shown.metadata?.deletionTimestamp !== undefined) return [`${name} is being deleted`];
  const { containers = [], restartPolicy } = pod.spec ?? {};
  const runs = runtime.containersOf(podUIDOf(pod));
  const { phase, containerStatuses = [], conditions = [] } = shown.status ?? {};
  const newest = containers.map((each) => runs.find((run) => run.name === each.name));
  if (isTerminalPhase(phase)) return newest.some((run) => run?.isRunning) ? [`${name} is told ${phase}, and runs`] : [];
  const wrong: string[] = [];
  containers.forEach((container, index) => {
    const run = newest[index];
    const status = containerStatuses.find((each) => each.name === container.name);
    const difference = differenceOf(run, status);
    if (difference !== undefined) wrong.push(`${name}/${container.name}: ${difference}`);
    if (run?.isRunning && run.start.image !== container.image) wrong.push(`${name}/${container.name} runs another image`);
  });
  const areAllRunning = newest.length > 0 && newest.every((run) => run?.isRunning);
  const mayWait = newest.some((run) => run === undefined || run.endOfRun?.exitCode !== 0 || restartPolicy === 'Always');
  if (!areAllRunning && !mayWait && newest.every((run) => !run?.isRunning)) wrong.push(`${name} is over, and told ${phase}`);
  if (areAllRunning && phase !== 'Running') wrong.push(`${name} runs, and is told ${phase}`);
  const isReady = areAllRunning && containers.every((each, index) => isReadyNow(each, newest[index], nowMs));
  const ready = conditions.find(({ type }) => type === 'Ready')?.status === 'True';
  if (ready !== isReady) wrong.push(`${name} is ${isReady ? '' : 'not '}ready, and told ${ready ? '' : 'not '}to be`);
  return wrong;
}

function differenceOf(run: ContainerRecord | undefined, status: WireContainerStatus | undefined): string | undefined {
  const { state, lastState } = status ?? {};
  if (run === undefined) return state?.waiting ? 'waits still' : `has never run, and is told ${JSON.stringify(state)}`;
  if (run.isRunning)
    return state?.running && status?.containerID === run.id
      ? undefined
      : `runs as ${run.id}, and is told ${JSON.stringify(state)}`;
  const told = state?.terminated ?? (state?.waiting ? lastState?.terminated : undefined);
  return told?.containerID === run.id ? undefined : `has ended as ${run.id}, and is told ${JSON.stringify(state)}`;
}

function isReadyNow(
  { readinessProbe }: NonNullable<Pod['spec']>['containers'][number],
  run: ContainerRecord | undefined,
  nowMs: number,
): boolean {
  if (run === undefined || !readinessProbe) return run !== undefined;
  return nowMs - run.start.startedMs >= run.life.readyAfterMs;
}
