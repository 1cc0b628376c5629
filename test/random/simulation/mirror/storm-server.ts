import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { isMirrorPod } from '../../../../src/api/pod/pod-identity.ts';
import { sleep } from '../../../../src/base/clock.ts';
import type { JsonMembers } from '../../../../src/client/transport/api-answer.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import type { KubeRequest } from '../../../../src/client/transport/kube-transport.ts';
import type { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import type { DeleteRequest } from '../../../../src/testing/objects/deletion.ts';
import { PodStore } from '../../../../src/testing/pods-api/pod-store.ts';
import type { Prng } from '../../chaos/prng.ts';

const faults = {
  none: 60,
  lost: 6,
  answerLost: 8,
  hangs: 3,
  straggles: 4,
  answer403: 4,
  answer409: 4,
  answer429: 5,
  answer500: 6,
} as const;
export type Fault = keyof typeof faults;

const answers: Partial<Record<Fault, { status: number; reason: string; retryAfterMs?: number }>> = {
  answer403: { status: 403, reason: 'Forbidden' },
  answer409: { status: 409, reason: 'Conflict' },
  answer429: { status: 429, reason: 'TooManyRequests', retryAfterMs: 1000 },
  answer500: { status: 500, reason: 'InternalError' },
};

/** The apiserver of a storm, as a transport: it breaks requests by chance, before or after their effect. */
export class StormServer {
  readonly store: PodStore;
  /** Requests by fault. */
  readonly met = new Map<Fault, number>();
  /** What a DELETE has removed that is no mirror pod of the node. */
  readonly wronglyDeleted: string[] = [];
  stormy = true;
  #underWay = 0;
  readonly #clock: FakeClock;
  readonly #prng: Prng;
  readonly #nodeName: string;

  constructor(clock: FakeClock, prng: Prng, nodeName: string) {
    this.#clock = clock;
    this.#prng = prng;
    this.#nodeName = nodeName;
    this.store = new PodStore({ clock, validate: false });
  }

  get underWay(): number {
    return this.#underWay;
  }

  async request(request: KubeRequest): Promise<JsonMembers> {
    const { signal, timeoutMs = 10_000 } = request;
    const fault = this.stormy ? this.#prng.weighted(faults) : 'none';
    this.met.set(fault, (this.met.get(fault) ?? 0) + 1);
    this.#underWay += 1;
    try {
      await sleep(this.#clock, this.#prng.int(1, 60), signal ?? new AbortController().signal);
      if (signal?.aborted) throw new ApiError({ reason: 'Aborted', message: 'aborted' });
      return await this.#serve(request, fault, timeoutMs);
    } finally {
      this.#underWay -= 1;
    }
  }

  async stream(): Promise<void> {
    throw new Error('no watch was expected');
  }

  async #serve(request: KubeRequest, fault: Fault, timeoutMs: number): Promise<JsonMembers> {
    const answer = answers[fault];
    if (answer !== undefined) throw new ApiError({ ...answer, message: `the storm answers ${answer.status}` });
    if (fault === 'lost') throw new ApiError({ reason: 'Network', message: 'reset before the request was read' });
    if (fault === 'hangs' || fault === 'straggles') {
      const lateMs = timeoutMs + this.#prng.int(0, 5000);
      // a server may carry out what its client has given up
      if (fault === 'straggles') this.#clock.setTimer(() => this.#carryOutLate(request), lateMs);
      await sleep(this.#clock, timeoutMs, request.signal ?? new AbortController().signal);
      throw new ApiError({ reason: 'Timeout', message: 'no answer came' });
    }
    const result = this.#carryOut(request);
    await nextTurn();
    if (fault === 'answerLost') throw new ApiError({ reason: 'Network', message: 'reset before the answer came' });
    return result;
  }

  #carryOutLate(request: KubeRequest): void {
    try {
      this.#carryOut(request);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  #carryOut({ method, path, body }: KubeRequest): JsonMembers {
    const [, , , , namespace = '', , name = ''] = path.split('/');
    if (method === 'POST') return members(this.store.create(JSON.parse(JSON.stringify(body)) as WirePod));
    if (method === 'GET') return members(this.store.get(namespace, name));
    const before = this.store.get(namespace, name);
    const { pod } = this.store.delete(namespace, name, body as DeleteRequest);
    if (!isMirrorPod(before) || before.spec?.nodeName !== this.#nodeName) this.wronglyDeleted.push(`${namespace}/${name}`);
    return members(pod);
  }
}

function members(pod: WirePod): JsonMembers {
  return structuredClone(pod) as JsonMembers;
}
