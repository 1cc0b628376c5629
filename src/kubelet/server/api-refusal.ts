/**
 * Why a request to the kubelet's API is not answered: the status code, and the text that the client gets. A host rejects with it.
 *
 * @example
 * ```ts
 * import { KubeletApiRefusal } from 'pod-status-manager/node';
 *
 * const refusal = new KubeletApiRefusal(404, 'pod does not exist');
 * console.log(refusal.status, refusal.message); // 404 pod does not exist
 * ```
 */
export class KubeletApiRefusal extends Error {
  /** The HTTP status code: 400 to 599. */
  readonly status: number;
  /** Further headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'KubeletApiRefusal';
    this.status = status;
    this.headers = headers;
  }
}

/** True for a refusal, also for one from another copy of the package. */
export function isRefusal(error: unknown): error is KubeletApiRefusal {
  return (
    error instanceof Error &&
    error.name === 'KubeletApiRefusal' &&
    typeof (error as Partial<KubeletApiRefusal>).status === 'number'
  );
}
