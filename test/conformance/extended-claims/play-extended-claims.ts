import { ignoreFailure } from '../../../src/base/guard.ts';
import type { ApiObject, KnownResources } from '../../../src/client/resources/api-resource.ts';
import { ApiError } from '../../../src/client/transport/api-error.ts';
import { ClaimAllocator } from '../../../src/scheduler/devices/claim-allocator.ts';
import type { ResourceClaim } from '../../../src/scheduler/devices/device-types.ts';
import { DeviceSelectors } from '../../../src/scheduler/devices/selectors/device-selectors.ts';
import { CycleState } from '../../../src/scheduler/framework/cycle-state.ts';
import { Framework } from '../../../src/scheduler/framework/framework.ts';
import type { Plugin, Rejection } from '../../../src/scheduler/framework/plugin.ts';
import type { SchedulerClient } from '../../../src/scheduler/framework/scheduler-client.ts';
import { createPodInfo, type PodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import { dynamicResourcesBy } from '../../../src/scheduler/plugins/devices/dynamic-resources.ts';
import { nodeResourcesFit } from '../../../src/scheduler/plugins/resources/node-resources-fit.ts';
import { FakeClock, settle } from '../../../src/testing/fakes/fake-clock.ts';
import { clusterObjects } from '../../support/cluster-objects.ts';
import { frameworkContext } from '../../support/framework-context.ts';
import { noSchedulerClient } from '../../support/no-scheduler-client.ts';
import { createNodeInfo, nodeSnapshotOf } from '../../support/node-snapshots.ts';
import type { RecordedClaimEvent } from '../claims/claims-case.ts';
import type { ExtendedClaimsCase, ExtendedEnd, ExtendedWrite, PlayedExtended, PluginRejection } from './extended-claims-case.ts';

/** Lets our plugins do with the pod what upstream's did. */
export async function playExtendedClaims(recorded: ExtendedClaimsCase): Promise<PlayedExtended> {
  const { skip, signed, ...played } = await playWhole(recorded);
  return { ...played, ...(skip && { skip }), ...(signed && { signed }) };
}

async function playWhole(recorded: ExtendedClaimsCase): Promise<PlayedExtended> {
  const world = new ExtendedWorld(recorded);
  const hints = recorded.events.map((event) => world.hintsOf(event));
  const start = { hints, signed: world.fit.signature?.(world.info) !== undefined };
  const state = new CycleState();
  const rejected = world.preFilter(state);
  if (rejected !== undefined && rejected !== 'skip') return { ...start, preFilter: rejected };
  const skip = rejected === 'skip';
  const failed: Record<string, PluginRejection> = {};
  const fits: Record<string, ExtendedEnd> = {};
  for (const { metadata: { name = '' } = {} } of recorded.nodes) {
    const rejection = world.filter(state, name, skip);
    if (rejection !== undefined) failed[name] = rejection;
    else fits[name] = skip ? {} : { score: world.score(state, name) };
  }
  if (Object.values(failed).some(({ code }) => code === 'Error')) return { ...start, skip, failed };
  if (Object.keys(fits).length === 0) return { ...start, skip, failed, ...(skip ? {} : await world.makeRoom(state)) };
  for (const name of skip ? [] : Object.keys(fits))
    fits[name] = withoutZero({ ...fits[name], ...(await new ExtendedWorld(recorded).bind(name)) });
  return { ...start, skip, failed, fits };
}

function withoutZero({ score, ...end }: ExtendedEnd): ExtendedEnd {
  return { ...end, ...(score && { score }) };
}

const finalizersOf = ({ metadata }: ResourceClaim): readonly string[] => metadata?.finalizers ?? [];

/** A server, what the watch has brought of it, and the plugins. */
class ExtendedWorld {
  readonly plugin: Plugin;
  readonly fit: Plugin;
  readonly info: PodInfo;
  readonly #clock = new FakeClock({ start: Date.UTC(2000, 0, 1) });
  readonly #recorded: ExtendedClaimsCase;
  readonly #server: Map<string, ResourceClaim>;
  readonly #objects: ReturnType<typeof clusterObjects>;
  #writes: ExtendedWrite[] = [];
  #version = 1000;

  constructor(recorded: ExtendedClaimsCase) {
    this.#recorded = recorded;
    this.info = createPodInfo(recorded.pod);
    this.#server = new Map(recorded.claims.map((claim) => [claim.metadata?.name ?? '', claim]));
    const given = { resourceClaims: recorded.claims, resourceSlices: recorded.slices, deviceClasses: recorded.classes };
    this.#objects = clusterObjects(given as Partial<Record<keyof KnownResources, readonly object[]>>);
    const client: SchedulerClient = {
      ...noSchedulerClient,
      getObject: async (_resource, { metadata }) => this.#read(metadata?.name ?? '') as never,
      createObject: async (resource, object) => {
        const made = this.#make(object as never);
        this.#objects.set(resource, made as never);
        return made as never;
      },
      patchObject: async (_resource, object, patch) => this.#write('object', object, patch) as never,
      patchObjectStatus: async (_resource, object, patch) => this.#write('status', object, patch) as never,
      deleteObject: async (_resource, { metadata }) => this.#delete(metadata?.name ?? ''),
      patchStatus: async ({ metadata }, { extendedResourceClaimStatus }) => {
        this.#refuse('pod');
        this.#writes.push({ what: `pod ${metadata?.name}`, extended: extendedResourceClaimStatus ?? {} });
      },
      event: () => {},
    };
    const context = frameworkContext({ snapshot: () => nodeSnapshotOf([]), objects: this.#objects, clock: this.#clock, client });
    const handle = new Framework(context, () => ({ schedulerName: 'test', plugins: [], weights: new Map() }));
    const selectors = new DeviceSelectors();
    this.fit = nodeResourcesFit(undefined, handle);
    this.plugin = dynamicResourcesBy(
      (needs) => new ClaimAllocator({ ...needs, selectors, shareId: () => 'share-new' }),
      undefined,
      handle,
    );
  }

  hintsOf({ resource, action, before, after }: RecordedClaimEvent): Record<string, string> {
    const answers: Record<string, string> = {};
    for (const plugin of [this.plugin, this.fit]) {
      for (const event of plugin.eventsToRegister?.() ?? []) {
        if (event.resource !== resource || !event.actions.includes(action as never)) continue;
        const helps = event.hint?.(this.info.pod, before as never, after as never) !== 'Skip';
        if (helps) answers[plugin.name] = 'Queue';
        else answers[plugin.name] ??= 'Skip';
      }
    }
    return answers;
  }

  preFilter(state: CycleState): PluginRejection | 'skip' | undefined {
    try {
      const answer = this.plugin.preFilter?.(state, this.info, nodeSnapshotOf([]));
      if (answer === undefined || answer === 'skip') return answer;
      const { code, reasons } = answer as Rejection;
      return { code, reasons };
    } catch (error) {
      return errorOf(error);
    }
  }

  filter(state: CycleState, nodeName: string, isSkipped: boolean): PluginRejection | undefined {
    const node = this.#node(nodeName);
    const rejection = this.fit.filter?.(state, this.info, node);
    if (rejection !== undefined)
      return { plugin: 'NodeResourcesFit', code: rejection.code, reasons: [...rejection.reasons].sort() };
    if (isSkipped) return undefined;
    const plugin = 'DynamicResources';
    try {
      const refusal = this.plugin.filter?.(state, this.info, node);
      return refusal && { plugin, code: refusal.code, reasons: refusal.reasons };
    } catch (error) {
      return { plugin, ...errorOf(error) };
    }
  }

  score(state: CycleState, nodeName: string): number {
    return this.plugin.score?.(state, this.info, this.#node(nodeName)) ?? 0;
  }

  async makeRoom(state: CycleState): Promise<Pick<PlayedExtended, 'postFilter' | 'writes'>> {
    const answer = this.plugin.postFilter?.(state, this.info, new Map());
    for (const action of answer?.actions ?? []) {
      if (action.kind === 'change') await action.change(new AbortController().signal).catch(() => {});
    }
    return { postFilter: answer?.message ?? '', writes: this.#taken() };
  }

  async bind(nodeName: string): Promise<ExtendedEnd> {
    const state = new CycleState();
    this.preFilter(state);
    this.filter(state, nodeName, false);
    this.plugin.reserve?.(state, this.info, nodeName);
    let error: string | undefined;
    const { signal } = new AbortController();
    const work = this.plugin.preBind?.(state, this.info, nodeName, signal).catch((reason: Error) => {
      error = reason.message;
    });
    await this.#clock.advance(601_000);
    await work;
    const writes = this.#taken();
    // what the server refuses is seen by what was written
    const undone = Promise.resolve(this.plugin.unreserve?.(state, this.info, nodeName, signal)).catch(ignoreFailure);
    await settle();
    await undone;
    return { ...(error !== undefined && { error }), writes, undone: this.#taken() };
  }

  #node(nodeName: string) {
    const node = this.#recorded.nodes.find(({ metadata }) => metadata?.name === nodeName) ?? {};
    return createNodeInfo(node, []);
  }

  #taken(): ExtendedWrite[] {
    const writes = this.#writes;
    this.#writes = [];
    return writes;
  }

  #refuse(what: string): void {
    if (this.#recorded.refuse === what) throw new ApiError({ status: 403, reason: 'Forbidden', message: 'refused' });
  }

  #read(name: string): ResourceClaim {
    const claim = this.#server.get(name);
    if (claim === undefined) throw new ApiError({ status: 404, reason: 'NotFound', message: `${name} not found` });
    return claim;
  }

  #make({ apiVersion: _version, kind: _kind, ...claim }: ResourceClaim): ResourceClaim {
    this.#refuse('create');
    this.#writes.push({ what: 'create', made: claim });
    this.#version += 1;
    const name = `${claim.metadata?.generateName}new`;
    const made = { ...claim, metadata: { ...claim.metadata, name, uid: 'u-made', resourceVersion: `${this.#version}` } };
    this.#server.set(name, made);
    return made;
  }

  #delete(name: string): void {
    if (!this.#server.has(name)) return;
    this.#refuse('delete');
    this.#server.delete(name);
    this.#writes.push({ what: `delete ${name}` });
  }

  #write(what: 'object' | 'status', { metadata }: ApiObject, patch: object): ResourceClaim {
    const now = this.#read(metadata?.name ?? '');
    if (now.metadata?.uid !== metadata?.uid || now.metadata?.resourceVersion !== metadata?.resourceVersion)
      throw new ApiError({ status: 409, reason: 'Conflict', message: 'modified' });
    this.#refuse(what);
    const { metadata: changed = {}, status = {} } = patch as { metadata?: object; status?: object };
    this.#version += 1;
    const after = {
      ...now,
      metadata: { ...now.metadata, ...changed, resourceVersion: `${this.#version}` },
      status: Object.fromEntries(Object.entries({ ...now.status, ...status }).filter(([, value]) => value !== null)),
    } as ResourceClaim;
    this.#server.set(metadata?.name ?? '', after);
    const name = `${what} ${metadata?.name}`;
    if (what === 'object') this.#writes.push({ what: name, finalizers: finalizersOf(after) });
    else this.#writes.push({ what: name, status: after.status ?? {} });
    return after;
  }
}

function errorOf(error: unknown): PluginRejection {
  return { code: 'Error', reasons: [String(error)] };
}
