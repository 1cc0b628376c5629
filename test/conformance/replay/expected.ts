import { isDeepStrictEqual } from 'node:util';
import { applyPodStatusPatch, type WirePodStatus } from '../../../src/index.ts';
import { comparable } from './canonical.ts';
import type { Write } from './replay-client.ts';
import type { Expectation, ResizeConditions, ServerPod, Step } from './scenario.ts';

/** What upstream did in one step, made whole: recorded outcomes leave out what is as it was. */
export interface Expected {
  readonly changed: boolean | undefined;
  readonly result: unknown;
  readonly notifications: NonNullable<Expectation['notifications']>;
  readonly cache: Readonly<Record<string, WirePodStatus>>;
  readonly server: Readonly<Record<string, ServerPod>>;
  /** Pods of which the real server would hold more than the oracle's does. */
  readonly filledIn: ReadonlySet<string>;
  readonly resizeConditions: ResizeConditions;
  /** Upstream's writes that changed something, by their effect. */
  readonly writes: readonly Write[];
  /** Pods of which a write failed on demand. */
  readonly failed: ReadonlySet<string>;
}

/**
 * Follows the recording of one scenario, step by step. The oracle's server fills in nothing; the real one keeps its own
 * qosClass and observedGenerations where a patch takes them away (D9). What it would hold is what ours is compared with, and
 * a readiness that ended with the pod ends once (D10).
 */
export class Recording {
  readonly #conditionOrder: boolean;
  #cache: Expected['cache'] = {};
  #recorded: Expected['server'] = {};
  #server: Expected['server'] = {};
  #resizeConditions: ResizeConditions = {};
  /** With `conditionOrder` false, a write that only moves conditions is none. */
  constructor(conditionOrder: boolean) {
    this.#conditionOrder = conditionOrder;
  }

  next(step: Step): Expected {
    const { changed, result, notifications = [], cache = this.#cache, server: recorded = this.#recorded } = step.expect;
    const { resizeConditions = this.#resizeConditions } = step.expect;
    const filledIn = new Set<string>();
    const before = serverBeforeWrites(step, this.#server);
    const done = writesOf(step.expect, new Map(before), this.#conditionOrder);
    const server: Record<string, ServerPod> = {};
    for (const [name, pod] of Object.entries(recorded)) {
      const status = keptByServer(before.get(name), pod);
      server[name] = status === pod.status ? pod : { ...pod, status };
      if (status !== pod.status) filledIn.add(name);
    }
    this.#cache = cache;
    this.#recorded = recorded;
    this.#server = server;
    this.#resizeConditions = resizeConditions;
    return { changed, result, notifications, cache, server, filledIn, resizeConditions, ...done };
  }
}

function keptByServer(before: ServerPod | undefined, { uid, status }: ServerPod): WirePodStatus {
  if (before?.uid !== uid) return status;
  const { qosClass, observedGeneration } = before.status;
  const conditions = keptConditions(status.conditions, before.status.conditions);
  const kept: WirePodStatus = {
    ...(qosClass && !status.qosClass && { qosClass }),
    ...(observedGeneration && !status.observedGeneration && { observedGeneration }),
    ...(conditions !== undefined && { conditions }),
  };
  return Object.keys(kept).length === 0 ? status : { ...status, ...kept };
}

type Conditions = WirePodStatus['conditions'];

/** The conditions as ours would be: with the generations the server keeps, and a readiness that ended ending once. Undefined for no difference. */
function keptConditions(conditions: Conditions, before: Conditions): Conditions {
  let kept = false;
  const filled = conditions?.map((condition) => {
    const old = before?.find(({ type }) => type === condition.type);
    const generation = condition.observedGeneration || old?.observedGeneration;
    const time = endedBefore(condition, old) ? old?.lastTransitionTime : condition.lastTransitionTime;
    if (generation === condition.observedGeneration && time === condition.lastTransitionTime) return condition;
    kept = true;
    return { ...condition, ...(generation && { observedGeneration: generation }), ...(time && { lastTransitionTime: time }) };
  });
  return kept ? filled : undefined;
}

type Condition = NonNullable<Conditions>[number];

/** D10: upstream's merge ends the readiness of an ended pod anew at every batch while the agent still says Ready. */
function endedBefore({ status, reason }: Condition, old: Condition | undefined): boolean {
  return (reason === 'PodFailed' || reason === 'PodCompleted') && old?.status === status && old.reason === reason;
}

/** The server's pods as the manager finds them: after somebody else's write of the same step. */
function serverBeforeWrites({ op, pod, namespace, name }: Step, server: Expected['server']): Map<string, ServerPod> {
  const pods = new Map(Object.entries(server));
  if (op === 'apiserver.put' && pod?.metadata !== undefined) {
    const { uid = '', deletionTimestamp } = pod.metadata;
    pods.set(`${pod.metadata.namespace}/${pod.metadata.name}`, {
      uid,
      deleting: Boolean(deletionTimestamp),
      status: pod.status ?? {},
    });
  }
  if (op === 'apiserver.remove') pods.delete(`${namespace}/${name}`);
  return pods;
}

function writesOf(
  { calls = [] }: Expectation,
  server: Map<string, ServerPod>,
  conditionOrder: boolean,
): Pick<Expected, 'writes' | 'failed'> {
  const writes: Write[] = [];
  const failed = new Set<string>();
  for (const call of calls) {
    const pod = `${call.namespace}/${call.name}`;
    const stored = server.get(pod);
    if (call.error) failed.add(pod);
    if (call.verb === 'get' || call.error || stored === undefined) continue;
    if (call.verb === 'delete') {
      writes.push({ verb: 'delete', pod, uid: call.uid ?? '', gracePeriodSeconds: call.gracePeriodSeconds ?? -1 });
      server.delete(pod);
      continue;
    }
    const patch = { type: 'application/strategic-merge-patch+json', body: call.patch } as const;
    const status = keptByServer(stored, { ...stored, status: applyPodStatusPatch(stored.status, patch) });
    // taking away what the server keeps is no effect
    if (!isDeepStrictEqual(comparable(status, conditionOrder), comparable(stored.status, conditionOrder)))
      writes.push({ verb: 'patch', pod, status });
    server.set(pod, { ...stored, status });
  }
  return { writes, failed };
}
