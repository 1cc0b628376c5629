import { errorFromStatus, type JsonMembers } from '../../../../src/client/transport/api-answer.ts';
import type { ApiError } from '../../../../src/client/transport/api-error.ts';
import type { KubeRequest } from '../../../../src/client/transport/kube-transport.ts';

type Answer = (request: KubeRequest) => unknown;

/** A transport that keeps every request, and answers as the test says. */
export class RecordingTransport {
  readonly requests: KubeRequest[] = [];
  readonly #answer: Answer;

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  async request(request: KubeRequest): Promise<JsonMembers> {
    this.requests.push(request);
    return (await this.#answer(request)) as JsonMembers;
  }

  async stream(): Promise<void> {
    throw new Error('no stream was expected');
  }
}

/** What a transport rejects with when a server answers with a Status object. */
export function refusal(status: number, reason: string, message = reason): ApiError {
  return errorFromStatus({ kind: 'Status', reason, message }, { status, label: 'TEST /' });
}
