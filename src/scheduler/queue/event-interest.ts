import type { WirePod } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { invalidOption } from '../../base/errors.ts';
import { callGuarded, isThenable } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { ApiResource } from '../../client/resources/api-resource.ts';
import {
  eventNameOf,
  isInSnapshots,
  isResourceName,
  requireResource,
  resourceNamed,
  resourceNames,
} from '../framework/cluster-objects.ts';
import type { ClusterEventWithHint, Plugin, ProfilePlugins, QueueingHint } from '../framework/plugin.ts';
import { type ClusterEvent, isRegistered, isWildcard } from './cluster-event.ts';
import type { SeenEvent } from './in-flight-pods.ts';
import { isRejected, type QueueEntry, schedulerNameOf } from './queued-pod-info.ts';

type Hint = NonNullable<ClusterEventWithHint['hint']>;

/** The hints of one profile's plugins for one kind of event, by the plugin's name. */
export type InterestedPlugins = ReadonlyMap<string, readonly Hint[]>;

/** What a plugin has registered, with the name of the resource. */
type RegisteredEvent = Omit<ClusterEventWithHint, 'resource'> & { readonly resource: string };

const everything: readonly RegisteredEvent[] = [{ resource: '*', actions: ['*'] }];
const alwaysQueue: Hint = () => 'Queue';

/** Which plugins of which profile want to be asked about which events. */
export class EventInterest {
  readonly #registered = new Map<string, ReadonlyMap<string, readonly RegisteredEvent[]>>();
  /** By profile and then by the kind of the event: worked out when it is first asked for. */
  readonly #known = new Map<string, Map<string, InterestedPlugins>>();
  /** Beside pods and nodes, by name. */
  readonly #resources = new Map<string, ApiResource>();

  /** What `eventsToRegister` throws is thrown on. Throws ERR_INVALID_OPTION for a name that no resource has. */
  constructor(profiles: readonly Pick<ProfilePlugins, 'schedulerName' | 'plugins'>[]) {
    for (const { schedulerName, plugins } of profiles) {
      this.#registered.set(schedulerName, new Map(plugins.map((plugin) => [plugin.name, this.#eventsOf(plugin)])));
      this.#known.set(schedulerName, new Map());
    }
  }

  /** What the plugins of all profiles have registered for, beside pods and nodes. */
  get resources(): readonly ApiResource[] {
    return [...this.#resources.values()];
  }

  get schedulerNames(): Iterable<string> {
    return this.#registered.keys();
  }

  #eventsOf(plugin: Plugin): readonly RegisteredEvent[] {
    if (plugin.eventsToRegister === undefined) return everything;
    return withTaints(plugin.eventsToRegister().map((event) => ({ ...event, resource: this.#nameOf(plugin, event) })));
  }

  #nameOf(plugin: Plugin, { resource }: ClusterEventWithHint): string {
    if (resource === '*' || resource === 'Pod' || resource === 'Node') return resource;
    if (typeof resource === 'string' && !isResourceName(resource)) {
      throw invalidOption(
        `${plugin.name}.eventsToRegister`,
        `a resource, or one of *, Pod, Node, ${resourceNames.join(', ')}`,
        resource,
      );
    }
    const path = `${plugin.name}.eventsToRegister`;
    const known = typeof resource === 'string' ? resourceNamed(resource) : requireResource(path, resource);
    const name = eventNameOf(known);
    if (!isInSnapshots(known)) this.#resources.set(name, known);
    return name;
  }

  /** True where the plugin of the profile wants to know of anything. */
  hasEvents(schedulerName: string, plugin: string): boolean {
    return (this.#registered.get(schedulerName)?.get(plugin) ?? []).length > 0;
  }

  /** The plugins of the profile that want to know of such an event. None for a profile that is not known. */
  of(schedulerName: string, { resource, action, label }: ClusterEvent): InterestedPlugins {
    const known = this.#known.get(schedulerName);
    const kind = `${resource} ${action}`;
    let plugins = known?.get(kind);
    if (plugins === undefined) {
      plugins = new Map(
        [...(this.#registered.get(schedulerName) ?? [])].flatMap(([name, registered]) => {
          const matching = registered.filter((one) => isRegistered(one, { resource, action, label }));
          return matching.length === 0 ? [] : [[name, matching.map(({ hint = alwaysQueue }) => hint)] as const];
        }),
      );
      known?.set(kind, plugins);
    }
    return plugins;
  }
}

/** True where one of the hints says that the event may help the pod. A hint that throws, or answers something else, counts as if it said so. */
function saysQueue(
  hints: readonly Hint[],
  pod: WirePod,
  { before, after }: SeenEvent,
  onFailure: (error: unknown) => void,
): boolean {
  return hints.some((hint) => {
    const answer: unknown = callGuarded(() => hint(pod, before, after), onFailure);
    if (answer === undefined) return true;
    if (answer === ('Skip' satisfies QueueingHint)) return false;
    if (isThenable(answer)) onFailure(new TypeError('a hint must answer at once, not with a promise'));
    return true;
  });
}

/**
 * A plugin that wants to know of new nodes, and not of changed taints, is asked about those as well, and always agrees: kube-scheduler
 * v1.36.3 does so in buildQueueingHintMap.
 */
function withTaints(registered: readonly RegisteredEvent[]): readonly RegisteredEvent[] {
  const wants = (action: 'Add' | 'UpdateNodeTaint'): boolean =>
    registered.some(({ resource, actions }) => resource === 'Node' && registersAction(actions, action));
  if (!wants('Add') || wants('UpdateNodeTaint')) return registered;
  return [...registered, { resource: 'Node', actions: ['UpdateNodeTaint'] }];
}

function registersAction(actions: ClusterEventWithHint['actions'], action: 'Add' | 'UpdateNodeTaint'): boolean {
  return actions.includes(action) || actions.includes('*') || (action !== 'Add' && actions.includes('Update'));
}

/** What an event means for a pod: it stays where it is, is tried again after its back-off, or at once. */
export type Requeueing = 'stay' | 'afterBackoff' | 'atOnce';

/** What one event means for a pod: only the plugins that rejected it are asked. An event that helps a pending plugin skips the back-off. */
export function requeueingOf(entry: QueueEntry, seen: SeenEvent, interest: EventInterest, logger: Logger): Requeueing {
  if (!isRejected(entry)) return 'afterBackoff';
  if (isWildcard(seen.event)) return isForAnother(entry, seen) ? 'stay' : 'afterBackoff';
  const { pod } = entry.podInfo;
  let answer: Requeueing = 'stay';
  for (const [plugin, hints] of interest.of(schedulerNameOf(entry), seen.event)) {
    const isPending = entry.pendingPlugins.has(plugin);
    if (!isPending && (answer !== 'stay' || !entry.unschedulablePlugins.has(plugin))) continue;
    const onFailure = (err: unknown): void =>
      logger.warn(
        { err, plugin, event: seen.event.label, ...podFields(entry.podInfo) },
        'a queueing hint failed; the pod is tried again',
      );
    if (!saysQueue(hints, pod, seen, onFailure)) continue;
    if (isPending) return 'atOnce';
    answer = 'afterBackoff';
    if (entry.pendingPlugins.size === 0) break;
  }
  return answer;
}

/** What all the events mean together that came while the pod was tried. */
export function requeueingAfter(
  entry: QueueEntry,
  events: readonly SeenEvent[],
  interest: EventInterest,
  logger: Logger,
): Requeueing {
  if (!isRejected(entry)) return 'afterBackoff';
  let answer: Requeueing = 'stay';
  for (const seen of events) {
    const one = requeueingOf(entry, seen, interest, logger);
    if (one === 'atOnce' || (one === 'afterBackoff' && entry.pendingPlugins.size === 0)) return one;
    if (one === 'afterBackoff') answer = one;
  }
  return answer;
}

/** An event of no kind that names a pod is for that pod alone. */
function isForAnother(entry: QueueEntry, { after }: SeenEvent): boolean {
  if (after === undefined) return false;
  const { metadata } = after as { readonly metadata?: { readonly uid?: string } };
  return metadata?.uid !== entry.podInfo.uid;
}
