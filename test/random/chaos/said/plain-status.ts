import type { WireContainerStatus, WirePodCondition, WirePodStatus } from '../../../../src/index.ts';
import type { PodShape } from '../life/pod-shape.ts';

/** The agent's own condition. Its message carries the mark of the status it belongs to. */
export const ownConditionType = 'chaos.example/Own';

/** Condition types that the agent writes; all others belong to other writers. */
export const agentsTypes: ReadonlySet<string> = new Set([
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
  ownConditionType,
]);

/** The agent's part of a pod status in one spelling: nothing empty, whole seconds, conditions by type. */
export interface PlainStatus extends Omit<WirePodStatus, 'conditions' | 'qosClass'> {
  readonly conditions: Readonly<Record<string, WirePodCondition>>;
}

const timeMembers: ReadonlySet<string> = new Set(['startTime', 'lastTransitionTime', 'startedAt', 'finishedAt']);
/** All termination messages of a pod together; each container has an equal share. */
const messageBytes = 12 * 1024;

/** What a status says, apart from how it is written. The order of lists stays. */
export function plain({ conditions, qosClass: _, ...status }: WirePodStatus): PlainStatus {
  const own: Record<string, WirePodCondition> = {};
  for (const condition of conditions ?? []) {
    if (agentsTypes.has(condition.type)) own[condition.type] = tidy(condition) as WirePodCondition;
  }
  return { ...(tidy(status) as Omit<WirePodStatus, 'conditions'> | undefined), conditions: own };
}

/** What a manager is to keep of a status: containers by name, init containers as in the spec, messages cut to their share. */
export function kept(status: PlainStatus, shape: PodShape): PlainStatus {
  const { containerStatuses = [], initContainerStatuses = [] } = status;
  const share = Math.floor(messageBytes / (shape.containers.length + shape.initContainers.length));
  const order = shape.initContainers.map(({ name }) => name);
  const containers = containerStatuses.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map((c) => withShortMessages(c, share));
  const inits = initContainerStatuses
    .toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    .map((c) => withShortMessages(c, share));
  return {
    ...status,
    ...(containers.length === 0 ? {} : { containerStatuses: containers }),
    ...(inits.length === 0 ? {} : { initContainerStatuses: inits }),
  };
}

/** The mark that a status carries; undefined while the agent has said nothing. */
export function markOf(status: WirePodStatus | undefined): number | undefined {
  const message = status?.conditions?.find(({ type }) => type === ownConditionType)?.message;
  const mark = /^m(\d+)$/.exec(message ?? '')?.[1];
  return mark === undefined ? undefined : Number(mark);
}

export function isTerminal(status: { readonly phase?: string | undefined } | undefined): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

function withShortMessages(container: WireContainerStatus, bytes: number): WireContainerStatus {
  const short = (state: WireContainerStatus['state']): WireContainerStatus['state'] => {
    const message = state?.terminated?.message;
    // the agent's messages are ASCII
    if (state?.terminated === undefined || message === undefined || message.length <= bytes) return state;
    return { terminated: { ...state.terminated, message: message.slice(0, bytes) } };
  };
  const { state, lastState, ...rest } = container;
  return {
    ...rest,
    ...(state && { state: short(state) }),
    ...(lastState && { lastState: short(lastState) }),
  } as WireContainerStatus;
}

/** Undefined for anything empty: null, '', a list or an object without members. */
function tidy(value: unknown, member = ''): unknown {
  if (value === null || value === undefined || value === '') return undefined;
  if (typeof value === 'string') return timeMembers.has(member) ? value.replace(/(\.\d+)?(Z|\+00:00)$/, 'Z') : value;
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => tidy(item));
  let result: Record<string, unknown> | undefined;
  for (const [key, inner] of Object.entries(value)) {
    const tidied = tidy(inner, key);
    if (tidied === undefined) continue;
    result ??= {};
    result[key] = tidied;
  }
  return result;
}
