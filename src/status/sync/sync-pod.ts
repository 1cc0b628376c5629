import type { PodClient } from '../../client/pod-client.ts';
import { isTerminalPhase } from '../../conditions/pod-phase.ts';
import { applyPodStatusPatch, createWirePodStatusPatch } from '../../patch/pod-status-patch.ts';
import type { Clock } from '../../seams/clock.ts';
import type { PodStatuses, VersionedPodStatus } from '../cache/pod-statuses.ts';
import type { AgentView, ApiTarget } from './agent-view.ts';
import { type ApiCopies, type ApiPod, apiPodOf, patchedApiPod } from './api-copies.ts';
import { isStillSo, type WaitOnCopy } from './pod-sync-state.ts';
import { type Admission, RequestFailure, type RequestGate } from './request-gate.ts';
import { statusToWrite } from './status-to-write.ts';

export interface SyncPodContext {
  readonly podClient: PodClient;
  readonly podStatuses: PodStatuses;
  readonly agent: AgentView;
  readonly copies: ApiCopies;
  readonly gate: RequestGate;
  readonly clock: Clock;
  readonly fetchBeforePatch: 'when-unknown' | 'always';
  readonly patchFormat: 'strategic' | 'json';
  readonly ownedConditionTypes: ReadonlySet<string>;
  /** The entry's version is on the apiserver. Called before anything else of the pod is sent. */
  readonly acknowledge: (podUID: string, acknowledged: Acknowledged) => void;
}

export interface Acknowledged {
  readonly entry: VersionedPodStatus;
  readonly copy: ApiPod;
  /** The terminal phase stays here until no container could run any more. */
  readonly phaseHeldBack: boolean;
  /** True when the version made a PATCH necessary. */
  readonly patched: boolean;
}

/** How a pod's sync ended. What follows from it is the worker's to decide. */
export type SyncOutcome =
  | { readonly kind: 'nothing-to-sync' | 'acknowledged' | 'no-mirror-pod' | 'deleted' | 'recreated' }
  /** `resourceVersion` is that of the copy the request was made for: another one seen since may be another pod. */
  | { readonly kind: 'gone'; readonly version: number; readonly resourceVersion: string | undefined }
  | { readonly kind: 'deleting'; readonly resourceVersion: string }
  /** Read again, and still the copy the pod waits on. */
  | { readonly kind: 'waits-on'; readonly wait: WaitOnCopy; readonly version: number }
  | {
      readonly kind: 'invalid';
      readonly failure: RequestFailure;
      readonly version: number;
      readonly resourceVersion: string | undefined;
    }
  | { readonly kind: 'failed'; readonly failure: RequestFailure; readonly version: number };

export interface SyncRequestOptions {
  readonly admission: Admission;
  /** Read the pod from the apiserver first, whatever is known of it. */
  readonly fetch: boolean;
  /** The last sync failed: a PATCH without an answer may have landed, so the copy at hand may be older than the pod. */
  readonly inDoubt?: boolean | undefined;
  /** What this version of the pod waits on: unless the pod turns out to have changed, it goes on waiting. */
  readonly waitsOn?: WaitOnCopy | undefined;
}

/**
 * Brings one pod's newest status to the apiserver: freshest copy -> merge -> patch -> version record -> DELETE when it
 * may go. One request a change; a GET only when nothing is known, or after a conflict or a refusal, once. Never rejects
 * for a failed request.
 */
export async function syncPod(context: SyncPodContext, podUID: string, options: SyncRequestOptions): Promise<SyncOutcome> {
  let fetch = options.fetch || context.fetchBeforePatch === 'always';
  let recomputed = false;
  for (;;) {
    const target = context.agent.target(podUID);
    const entry = context.podStatuses.get(podUID);
    if (entry === undefined) return { kind: 'nothing-to-sync' };
    if (target === undefined) return { kind: 'no-mirror-pod' };
    const attempt = new SyncAttempt(context, podUID, recomputed ? { ...options, waitsOn: undefined } : options);
    const outcome = await attempt.run(target, entry, fetch);
    const refused = outcome.kind === 'failed' && ['conflict', 'invalid'].includes(outcome.failure.errorClass);
    if (!refused || outcome.failure.verb === 'get') return outcome;
    if (recomputed) return outcome.failure.errorClass === 'invalid' ? invalidOutcome(outcome, attempt.base) : outcome;
    recomputed = true;
    fetch = true;
  }
}

function invalidOutcome(outcome: SyncOutcome & { kind: 'failed' }, base: ApiPod | undefined): SyncOutcome {
  return { kind: 'invalid', failure: outcome.failure, version: outcome.version, resourceVersion: base?.resourceVersion };
}

class SyncAttempt {
  readonly #context: SyncPodContext;
  readonly #podUID: string;
  readonly #admission: Admission;
  readonly #waitsOn: WaitOnCopy | undefined;
  readonly #inDoubt: boolean;
  /** The copy the last patch was computed against. */
  base: ApiPod | undefined;

  constructor(context: SyncPodContext, podUID: string, { admission, waitsOn, inDoubt = false }: SyncRequestOptions) {
    this.#context = context;
    this.#podUID = podUID;
    this.#admission = admission;
    this.#waitsOn = waitsOn;
    this.#inDoubt = inDoubt;
  }

  async run(target: ApiTarget, known: VersionedPodStatus, fetch: boolean): Promise<SyncOutcome> {
    const { agent, podStatuses, copies } = this.#context;
    let entry = known;
    const freshest = agent.freshest(target);
    try {
      let base = fetch ? undefined : freshest;
      if (base === undefined) {
        base = await this.#get(entry);
        if (isOtherPod(base, this.#podUID, agent)) return this.#replaced(target, entry, freshest);
        copies.record(base);
        // the pod may have changed, or gone from the cache, while the answer was on its way
        const newest = podStatuses.get(this.#podUID);
        if (newest === undefined) return { kind: 'nothing-to-sync' };
        entry = newest;
        if (this.#waitsOn !== undefined && entry === known && isStillSo(this.#waitsOn, base.resourceVersion)) {
          return { kind: 'waits-on', wait: this.#waitsOn, version: entry.version };
        }
      }
      this.base = base;
      const { copy, ...rest } = await this.#patch(entry, base, target.apiUID);
      if (!rest.patched && this.#inDoubt && base === freshest) return this.run(target, entry, true);
      this.#context.acknowledge(this.#podUID, { entry, copy, ...rest });
      return await this.#deleteIfPossible(entry, copy);
    } catch (failure) {
      if (!(failure instanceof RequestFailure)) throw failure;
      if (failure.errorClass === 'gone') {
        const { resourceVersion } = this.base ?? freshest ?? {};
        return failure.verb === 'delete' ? { kind: 'deleted' } : { kind: 'gone', version: entry.version, resourceVersion };
      }
      return { kind: 'failed', failure, version: entry.version };
    }
  }

  /**
   * Another pod has this name. That ends an ordinary pod; a static pod lives on, and has lost a mirror pod: its status
   * waits for the pod manager to show the next one.
   */
  #replaced(target: ApiTarget, { version }: VersionedPodStatus, known: ApiPod | undefined): SyncOutcome {
    if (target.apiUID === this.#podUID) return { kind: 'recreated' };
    return { kind: 'gone', version, resourceVersion: known?.resourceVersion };
  }

  async #get(entry: VersionedPodStatus): Promise<ApiPod> {
    const { gate, podClient } = this.#context;
    const pod = await gate.send('get', this.#admission, (signal) =>
      podClient.getPod(entry.podNamespace, entry.podName, { signal }),
    );
    try {
      return apiPodOf(pod);
    } catch (error) {
      throw new RequestFailure('get', 'broken-answer', error);
    }
  }

  async #patch(entry: VersionedPodStatus, base: ApiPod, apiUID: string): Promise<Omit<Acknowledged, 'entry'>> {
    const { gate, podClient, patchFormat } = this.#context;
    const status = statusToWrite(this.#context, this.#podUID, entry, base);
    const phaseHeldBack = status.phase !== entry.status.phase;
    const uid = base.uid || apiUID;
    const patch = createWirePodStatusPatch(base.status, status, {
      uid,
      format: patchFormat,
      ...(base.resourceVersion !== undefined && { resourceVersion: base.resourceVersion }),
    });
    if (patch.unchanged) return { copy: base, phaseHeldBack, patched: false };
    const metadata = await gate.send('patch', this.#admission, (signal) =>
      podClient.patchPodStatus(entry.podNamespace, entry.podName, patch, { signal }),
    );
    // a strategic merge patch leaves exactly the merged status; a JSON Patch leaves conditions in the server's order
    const left = patchFormat === 'json' ? applyPodStatusPatch(base.status, patch) : status;
    return { copy: patchedApiPod(base, left, metadata), phaseHeldBack, patched: true };
  }

  async #deleteIfPossible(entry: VersionedPodStatus, copy: ApiPod): Promise<SyncOutcome> {
    const { agent, gate, podClient } = this.#context;
    if (!canBeDeleted(agent, this.#podUID, entry, copy)) return { kind: 'acknowledged' };
    try {
      const left = await gate.send('delete', this.#admission, (signal) =>
        podClient.deletePod(entry.podNamespace, entry.podName, { signal, gracePeriodSeconds: 0, uid: copy.uid }),
      );
      if (left?.finalizers === undefined || left.finalizers.length === 0) return { kind: 'deleted' };
      return { kind: 'deleting', resourceVersion: left.resourceVersion };
    } catch (failure) {
      if (!(failure instanceof RequestFailure) || failure.errorClass !== 'conflict') throw failure;
      // another pod of this name, or a server that is just busy: only a look at it tells
      if (isOtherPod(await this.#get(entry), this.#podUID, agent)) return { kind: 'recreated' };
      return { kind: 'failed', failure, version: entry.version };
    }
  }
}

/** An answer without a uid says nothing about whose it is. */
function isOtherPod(copy: ApiPod, podUID: string, agent: AgentView): boolean {
  return copy.uid !== '' && agent.translate(copy.uid) !== podUID;
}

/**
 * True when the pod's object may be deleted: it is being deleted, it is no mirror pod, the apiserver shows a terminal
 * phase, the agent has finished with it and its resources are reclaimed.
 */
export function canBeDeleted(agent: AgentView, podUID: string, entry: VersionedPodStatus, copy: ApiPod): boolean {
  if (!copy.deleting || copy.isMirrorPod || !isTerminalPhase(copy.status.phase) || !entry.podIsFinished) return false;
  return agent.podResourcesAreReclaimed(podUID, entry);
}
