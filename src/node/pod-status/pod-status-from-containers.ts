import { lookupByName } from '../../api/json/json.ts';
import { formatTime } from '../../api/json/time.ts';
import type { Pod, PodStatus, WireContainerStatus, WirePodStatus } from '../../api/json/types.ts';
import { type Container, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { type Clock, safeClock, systemClock } from '../../base/clock.ts';
import { requireKnownOptions, requireMethods, requireObject } from '../../base/options.ts';
import { canonicalPodStatus } from '../../status/canonical/canonical-status.ts';
import { hasTransitionTimeRule, podConditionLookup, withLastTransitionTime } from '../../status/conditions/pod-conditions.ts';
import { byName, statusWithoutRecord, waitingReasonOf, withoutProbes, withProbeStates } from './container-statuses.ts';
import { assemblePodStatus, type Eviction } from './generate-pod-status.ts';
import { asCompleted } from './get-phase.ts';
import { type GivenContainer, requireGivenContainers, statusOfGiven, unseenEndOf } from './given-status.ts';
import { podIPsInOrder } from './pod-ips.ts';

/** What else a status follows from. Every option may be left out. */
export interface PodStatusFromContainersOptions {
  /** The status before, such as the status manager's. Default: the API copy, `pod.status`. */
  readonly previous?: PodStatus | undefined;
  /** No container of the pod will be started again, whatever its restart policy says. Default false. */
  readonly podIsTerminal?: boolean | undefined;
  /** The pod's addresses. Default: those of the status before. */
  readonly podIPs?: readonly string[] | undefined;
  /** The node's addresses, the primary one first. Default: those of the status before. */
  readonly hostIPs?: readonly string[] | undefined;
  /** The agent wants the pod gone from its node: it has failed. */
  readonly eviction?: Eviction | undefined;
  /** Default: the machine's. */
  readonly clock?: Clock | undefined;
}

const knownOptions: readonly (keyof PodStatusFromContainersOptions)[] = [
  'previous',
  'podIsTerminal',
  'podIPs',
  'hostIPs',
  'eviction',
  'clock',
];

/**
 * A complete status of a pod, for an agent that runs containers, or anything else, in its own way, and has no container
 * runtime to ask. `containers` says how each container is; the rest follows by the kubelet's rules, as in
 * {@link generatePodStatus}: phase, conditions with readiness gates and times, restart counts, last states. A terminal phase stays.
 *
 * A container that is left out:
 * - has ended, if that was reported;
 * - has succeeded, if it is an init container, no sidecar, and a regular container runs or has run;
 * - else waits, and if it ran before, its run has ended unseen, with exit code 137.
 *
 * Called again with the same containers and its own answer as `previous`, it gives the same status. `ready` needs saying where
 * the spec has probes: a container with a readiness probe is not ready unless the caller says so. Ephemeral containers are
 * never ready or started, as the kubelet reports them.
 *
 * Changes nothing it is given. Throws ERR_INVALID_ARGUMENT for a container that the pod does not have or that is given twice,
 * and for what cannot be, such as an exit code of a running container, and ERR_INVALID_OPTION for a wrong option.
 *
 * @example
 * ```ts
 * import { podStatusFromContainers } from 'pod-status-manager/node';
 * import { buildPod } from 'pod-status-manager/testing';
 *
 * const pod = buildPod({ spec: { restartPolicy: 'Never' } });
 * const before = podStatusFromContainers(pod, [{ name: 'app', state: 'running' }]);
 * const status = podStatusFromContainers(pod, [{ name: 'app', state: 'exited', exitCode: 1 }], { previous: before });
 * console.log(before.phase, status.phase); // Running Failed
 * console.log(status.containerStatuses?.[0]?.state?.terminated?.reason); // Error
 * ```
 */
export function podStatusFromContainers(
  pod: Pod,
  containers: readonly GivenContainer[],
  options: PodStatusFromContainersOptions = {},
): WirePodStatus {
  requireKnownOptions('options', options, knownOptions);
  requireObject('pod', pod);
  const { clock = systemClock } = options;
  requireMethods('clock', clock, ['now']);
  requireGivenContainers(pod, containers);
  const old = canonicalPodStatus(options.previous ?? pod.status ?? {});
  const now = formatTime(safeClock(clock).now());
  const { hostIPs = oldIPs(old.hostIPs), podIPs = oldIPs(old.podIPs) } = options;
  const givenOf = lookupByName(containers);
  const podHasInitialized = hasRegularContainerRun(pod, givenOf, old.containerStatuses);
  const view: GivenView = { pod, givenOf, now, podHasInitialized };
  const { spec } = pod;
  const status = assemblePodStatus(pod, old, {
    containerStatuses: byName(statuses(view, spec?.containers, old.containerStatuses)),
    initContainerStatuses: initStatuses(view, spec?.initContainers, old.initContainerStatuses),
    ephemeralContainerStatuses: byName(ephemeralStatuses(view, spec?.ephemeralContainers, old.ephemeralContainerStatuses)),
    podIsTerminal: options.podIsTerminal === true,
    endStays: true,
    podHasInitialized,
    podIPs: podIPsInOrder(podIPs, hostIPs),
    hostIPs,
    eviction: options.eviction,
  });
  return withTimes(pod, old, status, now);
}

interface GivenView {
  readonly pod: Pod;
  readonly givenOf: GivenLookup;
  readonly now: string;
  readonly podHasInitialized: boolean;
}

type GivenLookup = (name: string) => GivenContainer | undefined;
type OldStatuses = readonly WireContainerStatus[] | undefined;

function statuses(
  view: GivenView,
  containers: readonly Container[] = [],
  old: OldStatuses,
  isInit = false,
): WireContainerStatus[] {
  const { pod, now } = view;
  const oldOf = lookupByName(old);
  return containers.map((container) => {
    const given = view.givenOf(container.name);
    const before = oldOf(container.name);
    const context = { container, isInit, old: before, waitingReason: waitingReasonOf(pod), now };
    return given === undefined ? statusOfLeftOut(view, container, before, isInit) : statusOfGiven(given, context);
  });
}

function initStatuses(view: GivenView, containers: readonly Container[] | undefined, old: OldStatuses): WireContainerStatus[] {
  return statuses(view, containers, old, true);
}

function ephemeralStatuses(
  view: GivenView,
  containers: readonly Container[] | undefined,
  old: OldStatuses,
): WireContainerStatus[] {
  return statuses(view, containers, old).map(({ started: _, ...status }) => ({ ...status, ready: false }));
}

function statusOfLeftOut(
  { pod, podHasInitialized }: GivenView,
  container: Container,
  old: WireContainerStatus | undefined,
  isInit: boolean,
): WireContainerStatus {
  const status = statusWithoutRecord(pod, container, old, false);
  const hasSucceeded = isInit && podHasInitialized && !isRestartableInitContainer(container) && status.state?.waiting;
  if (hasSucceeded) return { ...asCompleted(status), ready: true, started: false };
  const lost = old?.state?.running ? lostStatus(pod, container, old) : status;
  const [left = lost] = withProbeStates(pod, [lost], withoutProbes);
  return left;
}

/** Of a container that ran: that run has ended unseen, also where an earlier one has left its end. */
function lostStatus(pod: Pod, container: Container, old: WireContainerStatus): WireContainerStatus {
  const status = statusWithoutRecord(pod, container, { ...old, lastState: {} }, false);
  const message = status.lastState?.terminated?.message ?? '';
  return { ...status, lastState: { terminated: unseenEndOf(old, message) } };
}

/** Given as running or exited, or left out after its end was reported. */
function hasRegularContainerRun({ spec }: Pod, givenOf: GivenLookup, old: OldStatuses): boolean {
  const oldOf = lookupByName(old);
  return (spec?.containers ?? []).some((container) => {
    const given = givenOf(container.name);
    if (given !== undefined) return given.state !== 'waiting';
    return oldOf(container.name)?.state?.terminated !== undefined;
  });
}

function oldIPs(ips: readonly { readonly ip: string }[] | undefined): string[] {
  return (ips ?? []).map(({ ip }) => ip);
}

/** When the pod was first seen, when its conditions changed, and which generation of the spec all this is about. */
function withTimes(pod: Pod, old: WirePodStatus, status: WirePodStatus, now: string): WirePodStatus {
  const previousOf = podConditionLookup(old.conditions);
  const conditions = status.conditions?.map((condition) =>
    hasTransitionTimeRule(condition.type) ? withLastTransitionTime(condition, previousOf(condition.type), now) : condition,
  );
  const generation = pod.metadata?.generation;
  return {
    ...status,
    startTime: old.startTime ?? now,
    ...(conditions !== undefined && { conditions }),
    ...(generation && { observedGeneration: generation }),
  };
}
