import { errorText } from '../../../src/base/errors.ts';
import type { ApiObject, KnownResources } from '../../../src/client/resources/api-resource.ts';
import { ApiError } from '../../../src/client/transport/api-error.ts';
import { ClaimAllocator } from '../../../src/scheduler/devices/claim-allocator.ts';
import type { ResourceClaim } from '../../../src/scheduler/devices/device-types.ts';
import { DeviceSelectors } from '../../../src/scheduler/devices/selectors/device-selectors.ts';
import { CycleState } from '../../../src/scheduler/framework/cycle-state.ts';
import { Framework } from '../../../src/scheduler/framework/framework.ts';
import type { Plugin, PluginHandle, Rejection } from '../../../src/scheduler/framework/plugin.ts';
import type { SchedulerClient } from '../../../src/scheduler/framework/scheduler-client.ts';
import { createPodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import { dynamicResourcesBy } from '../../../src/scheduler/plugins/devices/dynamic-resources.ts';
import { FakeClock, settle } from '../../../src/testing/fakes/fake-clock.ts';
import { clusterObjects } from '../../support/cluster-objects.ts';
import { frameworkContext } from '../../support/framework-context.ts';
import { noSchedulerClient } from '../../support/no-scheduler-client.ts';
import { createNodeInfo, nodeSnapshotOf } from '../../support/node-snapshots.ts';
import { isEmpty, membersUnless } from '../kinds/member-differences.ts';
import type {
  ClaimsCase,
  PlayedClaims,
  RecordedClaimEvent,
  RecordedEnd,
  RecordedRejection,
  RecordedWrite,
} from './claims-case.ts';

/** Lets our plugin do with the pod what upstream's did. What is empty is left out, as Go does. */
export async function playClaims(recorded: ClaimsCase): Promise<PlayedClaims> {
  return plain(membersUnless(isEmpty, await played(recorded))) as PlayedClaims;
}

async function played(recorded: ClaimsCase): Promise<PlayedClaims> {
  const world = new RecordedWorld(recorded);
  const { pod, nodes, events } = recorded;
  const { plugin } = world;
  const hints = events.map((event) => hintOf(plugin, pod, event));
  const gate = plugin.preEnqueue?.(pod)?.reasons;
  const start = { hints, ...(gate && { gate }) };
  const state = new CycleState();
  const rejected = world.preFilter(state);
  if (rejected === 'skip') return { ...start, skip: true };
  if (rejected !== undefined) return { ...start, preFilter: rejected };
  const failed: Record<string, RecordedRejection> = {};
  const fits: Record<string, RecordedEnd> = {};
  for (const node of nodes) {
    const name = node.metadata?.name ?? '';
    const rejection = world.filter(state, name);
    if (rejection !== undefined) failed[name] = rejection;
    else fits[name] = { score: plugin.score?.(state, createPodInfo(pod), createNodeInfo(node, [])) ?? 0 };
  }
  if (Object.values(failed).some(({ code }) => code === 'Error')) return { ...start, failed };
  if (Object.keys(fits).length === 0) return { ...start, failed, ...(await world.makeRoom(state)) };
  for (const name of Object.keys(fits))
    fits[name] = withoutZero({ ...fits[name], ...(await new RecordedWorld(recorded).bind(name)) });
  return { ...start, failed, fits };
}

function withoutZero({ score, ...end }: RecordedEnd): RecordedEnd {
  return { ...membersUnless(isEmpty, end), ...(score && { score }) };
}

/** As it stands in JSON. */
function plain<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

/** A server leaves out of a status what is empty, but for conditions, and the parameters of drivers, of which it knows nothing. */
function withoutEmpty<Value>(status: Value): Value {
  return JSON.parse(JSON.stringify(status), (key, member) =>
    typeof member !== 'object' || member === null || Array.isArray(member) || key === 'parameters'
      ? member
      : Object.fromEntries(Object.entries(member).filter(([name, value]) => name === 'conditions' || !isEmpty(value))),
  ) as Value;
}

function asServed({ status, ...claim }: ResourceClaim): ResourceClaim {
  return { ...claim, ...(status && { status: withoutEmpty(status) }) };
}

function hintOf(plugin: Plugin, pod: ClaimsCase['pod'], { resource, action, before, after }: RecordedClaimEvent): string {
  const events = (plugin.eventsToRegister?.() ?? []).filter(
    (event) => event.resource === resource && event.actions.includes(action as never),
  );
  if (events.length === 0) return 'none';
  return events.some(({ hint }) => hint === undefined || hint(pod, before as never, after as never) === 'Queue')
    ? 'Queue'
    : 'Skip';
}

function asRecorded({ code, reasons }: Rejection): RecordedRejection {
  return { code, reasons };
}

function errorOf(error: unknown): RecordedRejection {
  return { code: 'Error', reasons: [errorText(error)] };
}

/** A server, what the watch has brought of it, and the plugin. */
class RecordedWorld {
  readonly plugin: Plugin;
  readonly #clock = new FakeClock({ start: Date.UTC(2000, 0, 1) });
  readonly #recorded: ClaimsCase;
  readonly #server: Map<string, ResourceClaim>;
  #writes: RecordedWrite[] = [];
  #version = 1000;

  constructor(recorded: ClaimsCase) {
    this.#recorded = recorded;
    const { server = [], gone = [] } = recorded;
    const claims = recorded.claims.map(asServed);
    this.#server = new Map([...claims, ...server.map(asServed)].map((claim) => [claim.metadata?.name ?? '', claim]));
    for (const name of gone) this.#server.delete(name);
    const given = { resourceClaims: claims, resourceSlices: recorded.slices, deviceClasses: recorded.classes };
    const context = frameworkContext({
      snapshot: () => nodeSnapshotOf([]),
      objects: clusterObjects(given as Partial<Record<keyof KnownResources, readonly object[]>>),
      clock: this.#clock,
      client: {
        ...noSchedulerClient,
        getObject: async (_resource, { metadata }) => this.#read(metadata?.name ?? '') as never,
        patchObject: async (_resource, object, patch) => this.#write('object', object, patch) as never,
        patchObjectStatus: async (_resource, object, patch) => this.#write('status', object, patch) as never,
        event: () => {},
      } satisfies SchedulerClient,
    });
    const handle: PluginHandle = new Framework(context, () => ({ schedulerName: 'test', plugins: [], weights: new Map() }));
    const selectors = new DeviceSelectors();
    this.plugin = dynamicResourcesBy(
      (needs) => new ClaimAllocator({ ...needs, selectors, shareId: () => 'share-new' }),
      undefined,
      handle,
    );
  }

  preFilter(state: CycleState): RecordedRejection | 'skip' | undefined {
    try {
      const answer = this.plugin.preFilter?.(state, createPodInfo(this.#recorded.pod), nodeSnapshotOf([]));
      return answer === undefined || answer === 'skip' ? answer : asRecorded(answer as Rejection);
    } catch (error) {
      return errorOf(error);
    }
  }

  filter(state: CycleState, nodeName: string): RecordedRejection | undefined {
    const { pod, nodes } = this.#recorded;
    const node = nodes.find(({ metadata }) => metadata?.name === nodeName) ?? {};
    try {
      const rejection = this.plugin.filter?.(state, createPodInfo(pod), createNodeInfo(node, []));
      return rejection && asRecorded(rejection);
    } catch (error) {
      return errorOf(error);
    }
  }

  async makeRoom(state: CycleState): Promise<Pick<PlayedClaims, 'postFilter' | 'writes'>> {
    const answer = this.plugin.postFilter?.(state, createPodInfo(this.#recorded.pod), new Map());
    for (const action of answer?.actions ?? []) {
      if (action.kind === 'change') await action.change(new AbortController().signal).catch(() => {});
    }
    return { postFilter: answer?.message ?? '', writes: this.#taken() };
  }

  async bind(nodeName: string): Promise<RecordedEnd> {
    const [state, info] = [new CycleState(), createPodInfo(this.#recorded.pod)];
    this.preFilter(state);
    this.filter(state, nodeName);
    this.plugin.reserve?.(state, info, nodeName);
    let error: string | undefined;
    const work = this.plugin.preBind?.(state, info, nodeName, new AbortController().signal).catch((reason: Error) => {
      error = reason.message;
    });
    await this.#clock.advance(601_000);
    await work;
    const writes = this.#taken();
    await this.plugin.unreserve?.(state, info, nodeName, new AbortController().signal);
    await settle();
    return { ...(error !== undefined && { error }), writes, undone: this.#taken() };
  }

  #taken(): RecordedWrite[] {
    const writes = this.#writes;
    this.#writes = [];
    return writes;
  }

  #read(name: string): ResourceClaim {
    const claim = this.#server.get(name);
    if (claim === undefined)
      throw new ApiError({ status: 404, reason: 'NotFound', message: `resourceclaims.resource.k8s.io "${name}" not found` });
    return claim;
  }

  #write(what: 'object' | 'status', { metadata }: ApiObject, patch: object): ResourceClaim {
    const now = this.#read(metadata?.name ?? '');
    if (now.metadata?.uid !== metadata?.uid || now.metadata?.resourceVersion !== metadata?.resourceVersion)
      throw new ApiError({ status: 409, reason: 'Conflict', message: 'modified' });
    const { metadata: changed = {}, status = {} } = patch as { metadata?: { finalizers?: string[] }; status?: object };
    this.#version += 1;
    const after = {
      ...now,
      metadata: { ...now.metadata, ...changed, resourceVersion: `${this.#version}` },
      status: withoutEmpty(membersUnless((value) => value === null, { ...now.status, ...status })),
    } as ResourceClaim;
    this.#server.set(metadata?.name ?? '', after);
    const name = `${what} ${metadata?.name}`;
    if (what === 'object') this.#writes.push({ what: name, finalizers: changed.finalizers ?? [] });
    else this.#writes.push({ what: name, status: after.status ?? {} });
    return after;
  }
}
