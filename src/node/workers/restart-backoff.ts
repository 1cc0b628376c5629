import { createHash } from 'node:crypto';
import type { Pod } from '../../api/json/types.ts';
import { podText, requirePod } from '../../api/pod/pod-identity.ts';
import type { RuntimePodStatus } from '../../api/pod/runtime-pod.ts';
import { type Clock, safeClock, systemClock } from '../../base/clock.ts';
import { KeyedBackoff } from '../../base/concurrency/backoff.ts';
import { numberOption, requireKnownOptions, requireMethods } from '../../base/options.ts';
import { type EventRecorder, noEvents, safeEventRecorder } from '../../client/events/event-recorder.ts';

/** How long restarts wait, and who is told. */
export interface RestartBackoffOptions {
  /** The wait after a container's first restart, in milliseconds. Default 10 000. */
  readonly baseMs?: number;
  /** The longest wait, in milliseconds. Default 300 000. */
  readonly maxMs?: number;
  /** A container that exits longer than this after its last start begins anew, in milliseconds. Default 600 000. */
  readonly resetAfterMs?: number;
  /** Gets the event `BackOff` for each restart that must wait. */
  readonly eventRecorder?: EventRecorder;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
}

/** Whether a container may be started now. */
export type RestartAnswer =
  | { readonly wait: false }
  | {
      readonly wait: true;
      /** For the waiting state of the container's status. */
      readonly reason: 'CrashLoopBackOff';
      readonly message: string;
      /** Until the container may be started, in milliseconds. */
      readonly remainingMs: number;
    };

const knownOptions = ['baseMs', 'maxMs', 'resetAfterMs', 'eventRecorder', 'clock'];

/**
 * How long a container that has exited waits until it is started again: 10 s, doubled with each start up to 5 minutes, and
 * anew where the container had run for 10 minutes, or its image or resources have changed. Behaviour of doBackOff in
 * pkg/kubelet/kuberuntime, v1.36.3.
 *
 * @example
 * ```ts
 * import { RestartBackoff } from 'pod-status-manager/node';
 *
 * const pod = { metadata: { uid: '1', name: 'web', namespace: 'default' } };
 * const app = { name: 'app', image: 'app:1' };
 * const exitOf = (id: string) => ({ containers: [{ id, name: 'app', state: 'exited', exitCode: 1, finishedAt: Date.now() } as const] });
 *
 * const backoff = new RestartBackoff();
 * console.log(backoff.tryRestart(pod, app, exitOf('first')).wait); // false
 * const answer = backoff.tryRestart(pod, app, exitOf('second'));
 * console.log(answer.wait && answer.reason, backoff.nextWaitMs(pod, app)); // CrashLoopBackOff 10000
 * ```
 */
export class RestartBackoff {
  readonly #counter: KeyedBackoff;
  readonly #eventRecorder: EventRecorder;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: RestartBackoffOptions = {}) {
    requireKnownOptions('options', options, knownOptions);
    const { baseMs = 10_000, maxMs = 300_000, resetAfterMs = 600_000, eventRecorder = noEvents, clock = systemClock } = options;
    requireMethods('eventRecorder', eventRecorder, ['event']);
    requireMethods('clock', clock, ['now', 'setTimer']);
    this.#eventRecorder = safeEventRecorder(eventRecorder);
    this.#counter = new KeyedBackoff({
      firstMs: numberOption('baseMs', baseMs, 0, Number.MAX_SAFE_INTEGER),
      longestMs: numberOption('maxMs', maxMs, baseMs, Number.MAX_SAFE_INTEGER),
      resetAfterMs: numberOption('resetAfterMs', resetAfterMs, 0, Number.MAX_SAFE_INTEGER),
      clock: safeClock(clock),
    });
  }

  /**
   * Asks before each start of a container. An answer to go counts as a start, so ask once for each. A container that the
   * runtime shows no exit of may go, and counts nothing. An exit without `finishedAt`, or with one that is still to come, counts
   * from when it was first asked about; one without is never before the container's last start. Throws ERR_INVALID_ARGUMENT for a pod without uid, name or namespace.
   */
  tryRestart(pod: Pod, container: ContainerToStart, { containers }: Pick<RuntimePodStatus, 'containers'>): RestartAnswer {
    requirePod(pod);
    const exited = containers.find(({ name, state }) => name === container.name && state === 'exited');
    if (exited === undefined) return { wait: false };
    const exit = { id: exited.id, at: exited.finishedAt };
    const key = containerKey(pod, container);
    const remainingMs = this.#counter.remainingMs(key, exit);
    if (remainingMs === 0) {
      this.#counter.next(key, exit);
      return { wait: false };
    }
    const event = `Back-off restarting failed container ${container.name} in pod ${podText(pod)}`;
    this.#eventRecorder.event(pod, 'Warning', 'BackOff', event, containerFieldPath(pod, container.name));
    const wait = durationText(this.#counter.waitMs(key));
    const message = `back-off ${wait} restarting failed container=${container.name} pod=${podText(pod)}`;
    return { wait: true, reason: 'CrashLoopBackOff', message, remainingMs };
  }

  /** The wait that is due after the container's next exit, in milliseconds; 0 before its first restart. */
  nextWaitMs(pod: Pod, container: ContainerToStart): number {
    return this.#counter.waitMs(containerKey(pod, container));
  }

  /** Forgets the containers that would begin anew. Call it now and then: what is counted is kept until then. */
  gc(): void {
    this.#counter.gc();
  }
}

// Behaviour of GetBackoffKey in pkg/kubelet/kuberuntime and of fieldPath in pkg/kubelet/container, v1.36.3.

/** What tells one container of a pod from another, and from itself after a change that makes its restarts count anew. */
export interface ContainerToStart {
  /** The container's name in the pod's spec. */
  readonly name: string;
  /** The image of the spec. Another image begins a new count of restarts. */
  readonly image?: string | undefined;
  /** The resources of the spec. Other resources begin a new count of restarts. */
  readonly resources?: object | null | undefined;
}

/** A short text that is the same as long as the pod, the container, its image and its resources are. */
export function containerKey({ metadata }: Pod, { name, image, resources }: ContainerToStart): string {
  const { uid, namespace, name: podName } = metadata ?? {};
  // a hash, as it is kept for long, and image and resources are as long as the pod's author likes
  const hash = createHash('sha256').update(JSON.stringify([name, image ?? '', sorted(resources ?? {})]));
  return JSON.stringify([uid, namespace, podName, hash.digest('hex')]);
}

/** Where the container stands in its pod, as events name it. */
export function containerFieldPath({ spec }: Pod, containerName: string): string {
  for (const list of ['containers', 'initContainers', 'ephemeralContainers'] as const) {
    if (spec?.[list]?.some(({ name }) => name === containerName)) return `spec.${list}{${containerName}}`;
  }
  return `implicitly required container ${containerName}`;
}

/** The same value with the members of its objects in the order of their names. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return members.filter(([, member]) => member != null).map(([key, member]) => [key, sorted(member)]);
}

/** A duration as Go writes it, such as `10s`, `2m40s`, `500ms`: for messages that equal upstream's. Not negative. */
export function durationText(ms: number): string {
  if (ms === 0) return '0s';
  if (ms < 1000) return `${ms}ms`;
  const seconds = ms / 1000;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = `${Number((seconds % 60).toFixed(3))}s`;
  if (hours > 0) return `${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${minutes}m${rest}` : rest;
}
