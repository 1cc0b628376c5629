import { get } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';

interface Probe {
  readonly url: string;
  readonly token: string;
  readonly ca: string;
}

/** GET of one path: undefined when it answers 200, else what it does instead. Verifies the server's certificate. */
function probe({ url, token, ca }: Probe, path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` };
    // No agent: no connection is left behind.
    const request = get(`${url}${path}`, { ca, headers, agent: false, timeout: 2000 }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode === 200 ? undefined : `${path} answers ${response.statusCode}`));
      response.on('error', (error) => resolve(error.message));
    });
    request.on('timeout', () => request.destroy(new Error(`${path} does not answer`)));
    request.on('error', (error) => resolve(error.message));
  });
}

export interface ReadyOptions {
  readonly url: string;
  readonly token: string;
  /** Undefined as long as the server has not written its certificate. */
  readonly readCa: () => Promise<string | undefined>;
  /** Ends the wait early, with the reason. */
  readonly failed: () => string | undefined;
  readonly timeoutMs: number;
}

/**
 * Resolves to undefined once the apiserver is ready, else to the reason why it is not: after `timeoutMs`, or when `failed`
 * says so. Ready is more than /readyz, which answers from memory for a while after etcd has gone: a read must reach etcd,
 * and the `default` namespace, made soon after the start, must be there.
 */
export async function waitUntilReady({ url, token, readCa, failed, timeoutMs }: ReadyOptions): Promise<string | undefined> {
  const deadline = performance.now() + timeoutMs;
  let missing: string | undefined = 'the apiserver has written no certificate';
  while (performance.now() < deadline) {
    const reason = failed();
    if (reason !== undefined) return reason;
    const ca = await readCa();
    if (ca !== undefined) {
      const server = { url, token, ca };
      missing = (await probe(server, '/readyz')) ?? (await probe(server, '/api/v1/namespaces/default'));
    }
    if (missing === undefined) return undefined;
    await delay(50);
  }
  return `not ready after ${timeoutMs} ms: ${missing}`;
}
