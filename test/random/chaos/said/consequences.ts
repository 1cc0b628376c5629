import { isDeepStrictEqual } from 'node:util';
import type { Pod, WireContainerStatus, WirePod, WirePodCondition } from '../../../../src/index.ts';
import type { PodShape } from '../life/pod-shape.ts';
import { isTerminal, type PlainStatus, plain } from './plain-status.ts';
import { readinessOf, readinessTypes } from './readiness.ts';

// What must follow when the agent says something: upstream's rules, written again with none of the library's code.

/** What a status takes over from the one before it: times while a condition stays, the start, the newest generation. */
export function completed(said: PlainStatus, previous: PlainStatus, now: string, generation?: number): PlainStatus {
  const observedGeneration = Math.max(previous.observedGeneration ?? 0, generation ?? 0);
  return {
    ...said,
    conditions: timed(said.conditions, previous.conditions, now),
    startTime: previous.startTime ?? said.startTime ?? now,
    ...(observedGeneration === 0 ? {} : { observedGeneration }),
  };
}

/** A probe's result; undefined when nothing changes. */
export function probed(
  status: PlainStatus,
  containerID: string,
  result: { readonly ready: boolean } | { readonly started: boolean },
  { shape, pod, now }: { readonly shape: PodShape; readonly pod: Pod | undefined; readonly now: string },
): PlainStatus | undefined {
  for (const list of ['containerStatuses', 'initContainerStatuses'] as const) {
    const index = status[list]?.findIndex((container) => container.containerID === containerID) ?? -1;
    const container = status[list]?.[index];
    if (container === undefined) continue;
    const next = { ...container, ...result };
    if (next.ready === container.ready && next.started === container.started) return undefined;
    const changed = { ...status, [list]: status[list]?.with(index, next) };
    return 'ready' in result ? withReadiness(changed, shape, pod?.metadata?.generation, now) : changed;
  }
  return undefined;
}

/** What `terminatePod` makes of a status: a terminal phase, and an unknown end of containers whose end the agent did not see. */
export function terminated(status: PlainStatus, pod: WirePod, isStatic: boolean): PlainStatus {
  const { containerStatuses = [], initContainerStatuses = [] } = status;
  const begun = Math.max(initContainerStatuses.findLastIndex(hasBegun) + 1, Math.min(initContainerStatuses.length, 1));
  return {
    ...status,
    ...(containerStatuses.length > 0 && hasInitialized(pod) ? { containerStatuses: containerStatuses.map(givenUp) } : {}),
    ...(begun > 0 ? { initContainerStatuses: initContainerStatuses.map((c, i) => (i < begun ? givenUp(c) : c)) } : {}),
    ...(isStatic || isTerminal(status) ? {} : { phase: 'Failed' }),
  };
}

/** What the manager says of a pod that it finishes for the agent: the exit codes decide between Succeeded and Failed. */
export function finished(status: PlainStatus, pod: WirePod, shape: PodShape): PlainStatus {
  const ended = terminated(status, pod, false);
  if (isTerminal(status)) return ended;
  const exitCodes = ended.containerStatuses?.map(({ state }) => state?.terminated?.exitCode) ?? [];
  const succeeded = exitCodes.length === shape.containers.length && exitCodes.every((exitCode) => exitCode === 0);
  return { ...ended, phase: succeeded ? 'Succeeded' : 'Failed' };
}

/** A status that differs from the one before in times and generations of conditions alone is no news. */
export function saysTheSame(a: PlainStatus, b: PlainStatus): boolean {
  const news = ({ conditions, ...status }: PlainStatus): object => ({
    ...status,
    conditions: Object.entries(conditions).map(([type, { status, reason, message }]) => [type, status, reason, message]),
  });
  return isDeepStrictEqual(news(a), news(b));
}

function timed(
  conditions: PlainStatus['conditions'],
  previous: PlainStatus['conditions'],
  now: string,
): Record<string, WirePodCondition> {
  const result: Record<string, WirePodCondition> = {};
  for (const [type, { lastTransitionTime: _, ...condition }] of Object.entries(conditions)) {
    const before = previous[type];
    const time = before?.status === condition.status ? before.lastTransitionTime : now;
    result[type] = time === undefined ? condition : { ...condition, lastTransitionTime: time };
  }
  return result;
}

function withReadiness(status: PlainStatus, shape: PodShape, generation: number | undefined, now: string): PlainStatus {
  const verdict = { ...readinessOf(shape, status), ...(generation === undefined ? {} : { observedGeneration: generation }) };
  const next = Object.fromEntries(readinessTypes.map((type) => [type, { type, ...verdict }]));
  return { ...status, conditions: { ...status.conditions, ...timed(next, status.conditions, now) } };
}

function givenUp(container: WireContainerStatus): WireContainerStatus {
  if (container.state?.terminated) return container;
  const message = 'The container could not be located when the pod was terminated';
  return { ...container, state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', message } } };
}

function hasBegun({ state, lastState }: WireContainerStatus): boolean {
  return !state?.waiting || lastState?.terminated !== undefined;
}

/** Read from the status of the pod's own object. */
function hasInitialized(pod: WirePod): boolean {
  const { containerStatuses = [], initContainerStatuses = [] } = plain(pod.status ?? ({} as WirePod['status'] & object));
  const specs = pod.spec?.initContainers ?? [];
  if (specs.length === 0 || containerStatuses.some(hasBegun)) return true;
  const [last, spec] = [initContainerStatuses.at(-1), specs[initContainerStatuses.length - 1]];
  if (last === undefined || last.name !== spec?.name) return false;
  if (spec.restartPolicy === 'Always') return last.state?.running !== undefined && last.started === true;
  return last.state?.terminated?.exitCode === 0 || last.lastState?.terminated?.exitCode === 0;
}
