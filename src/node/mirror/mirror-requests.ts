import { isJsonObject } from '../../api/json/json.ts';
import type { WirePod } from '../../api/json/types.ts';
import { callGuarded } from '../../base/guard.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import { type LimitedCall, limitedCall } from '../../client/resources/limited-call.ts';
import { ApiError } from '../../client/transport/api-error.ts';
import type { CreateMirrorPodResult, DeleteMirrorPodResult } from './mirror-pod-client.ts';
import { type MirrorRecord, mirrorFields } from './mirror-record.ts';
import type { MirrorStep } from './mirror-step.ts';
import type { MirrorPodFailure, MirrorPodHandlers, ResolvedReconcilerOptions } from './reconciler-options.ts';

export type MirrorRequest = Exclude<MirrorStep, { kind: 'nothing' | 'wait' }>;

/** How a request has ended. `answered`: the server works, and what it said has to be looked into. */
export type RequestOutcome =
  | { readonly kind: 'done' | 'answered' | 'no-client' }
  | { readonly kind: 'failed'; readonly verb: MirrorPodFailure['verb']; readonly error: unknown };

type RequestResult = CreateMirrorPodResult | DeleteMirrorPodResult | WirePod | undefined;

/** Sends the requests of the reconciler, and notes in a record what the answers say. */
export class MirrorRequests {
  readonly #options: ResolvedReconcilerOptions;
  readonly #stopping = new AbortController();

  constructor(options: ResolvedReconcilerOptions) {
    this.#options = options;
  }

  /** Gives up what is under way. */
  abort(): void {
    this.#stopping.abort();
  }

  send(podFullName: string, request: MirrorRequest): LimitedCall<RequestResult> {
    const { mirrorPodClient: client, clock, requestTimeoutMs: timeoutMs } = this.#options;
    const { signal } = this.#stopping;
    const limits = { clock, timeoutMs, signal };
    switch (request.kind) {
      case 'create':
        return limitedCall('createMirrorPod()', () => client.createMirrorPod(request.staticPod, { signal }), limits);
      case 'delete':
        return limitedCall('deleteMirrorPod()', () => client.deleteMirrorPod(podFullName, request.uid, { signal }), limits);
      case 'read':
        return limitedCall('getMirrorPod()', () => client.getMirrorPod(podFullName, { signal }), limits);
    }
  }

  /** Resolves when the answer is there. Never rejects. */
  async settle(
    podFullName: string,
    record: MirrorRecord,
    request: MirrorRequest,
    answer: Promise<RequestResult>,
  ): Promise<RequestOutcome> {
    const outcome = await this.#outcome(podFullName, record, request, answer);
    this.#options.metrics.increment('pod_status_manager_mirror_pod_requests_total', { verb: request.kind, result: outcome.kind });
    return outcome;
  }

  async #outcome(
    podFullName: string,
    record: MirrorRecord,
    request: MirrorRequest,
    answer: Promise<RequestResult>,
  ): Promise<RequestOutcome> {
    try {
      return this.#apply(podFullName, record, request, await answer);
    } catch (error) {
      // who may not read the pod learns by the next create whether there is one: the Node authorizer hides what is not there
      if (request.kind === 'read' && classifyApiError(error) === 'forbidden') record.forgetUnseen();
      return { kind: 'failed', verb: request.kind, error };
    }
  }

  #apply(podFullName: string, record: MirrorRecord, request: MirrorRequest, result: RequestResult): RequestOutcome {
    switch (request.kind) {
      case 'create':
        return this.#created(podFullName, record, request, result as CreateMirrorPodResult);
      case 'delete':
        return this.#deleted(podFullName, record, request, result as DeleteMirrorPodResult);
      case 'read':
        return this.#found(podFullName, record, result as WirePod | undefined);
    }
  }

  #created(
    podFullName: string,
    record: MirrorRecord,
    { staticPod }: MirrorRequest & { kind: 'create' },
    result: CreateMirrorPodResult,
  ): RequestOutcome {
    if (result?.outcome === 'noClient') return { kind: 'no-client' };
    if (result?.outcome === 'alreadyExists') {
      record.inDoubt = true;
      return { kind: 'answered' };
    }
    if (result?.outcome !== 'created' || !isPodWithUID(result.mirrorPod)) throw badAnswer('createMirrorPod');
    const { mirrorPod } = result;
    record.noteCreated(mirrorPod);
    const fields = { ...mirrorFields(podFullName, record), mirrorPodUID: mirrorPod.metadata?.uid };
    this.#options.logger.info(fields, 'created a mirror pod');
    this.#tell('mirrorPodCreated', fields, (handlers) => handlers.mirrorPodCreated?.({ podFullName, staticPod, mirrorPod }));
    return { kind: 'done' };
  }

  #deleted(
    podFullName: string,
    record: MirrorRecord,
    { uid, reason }: MirrorRequest & { kind: 'delete' },
    result: DeleteMirrorPodResult,
  ): RequestOutcome {
    if (result?.deleted === true) {
      record.noteDeleted(uid, result.heldByFinalizers === true);
      const fields = { ...mirrorFields(podFullName, record), mirrorPodUID: uid };
      this.#options.logger.info({ ...fields, reason }, 'deleted a mirror pod');
      this.#tell('mirrorPodDeleted', fields, (handlers) => handlers.mirrorPodDeleted?.({ podFullName, uid, reason }));
      return { kind: 'done' };
    }
    switch (result?.reason) {
      case 'noClient':
        return { kind: 'no-client' };
      case 'notFound':
        record.noteDeleted(uid, false);
        return { kind: 'done' };
      case 'conflict':
        record.noteConflict(uid);
        return { kind: 'answered' };
      case 'failed':
        return { kind: 'failed', verb: 'delete', error: result.error };
      default:
        throw badAnswer('deleteMirrorPod');
    }
  }

  #found(podFullName: string, record: MirrorRecord, pod: WirePod | undefined): RequestOutcome {
    if (pod !== undefined && !isPodWithUID(pod)) throw badAnswer('getMirrorPod');
    const { nodeName } = this.#options;
    switch (record.noteFound(pod, nodeName)) {
      case 'ours':
        return { kind: 'done' };
      case 'none':
        return { kind: 'answered' };
      case 'foreign':
        return { kind: 'failed', verb: 'name', error: conflict(`The pod ${podFullName} is no mirror pod of node ${nodeName}`) };
      case 'contradiction':
        return { kind: 'failed', verb: 'delete', error: conflict(`The server has not deleted the pod ${podFullName}`) };
    }
  }

  #tell(method: string, fields: ReturnType<typeof mirrorFields>, call: (handlers: MirrorPodHandlers) => void): void {
    const { handlers, logger } = this.#options;
    callGuarded(
      () => call(handlers),
      (err) => logger.error({ err, method, ...fields }, 'a handler of the mirror pod reconciler failed'),
    );
  }
}

function isPodWithUID(value: unknown): boolean {
  return isJsonObject(value) && isJsonObject(value.metadata) && typeof value.metadata.uid === 'string';
}

function conflict(message: string): ApiError {
  return new ApiError({ status: 409, reason: 'AlreadyExists', message });
}

function badAnswer(method: string): ApiError {
  return new ApiError({
    reason: 'BrokenAnswer',
    message: `${method}() of the client answered with something else than its result`,
  });
}
