/** Seconds as Go writes a duration: `1s`, `1m30s`, `1h0m0s`. */
export function goSeconds(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (hours > 0) return `${hours}h${minutes}m${rest}s`;
  return minutes > 0 ? `${minutes}m${rest}s` : `${rest}s`;
}

/** `host:port`, with brackets around an IPv6 address. */
export function joinHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** True when the time of a probe is over; false when nobody wants its result. */
export function isTimeout(signal: AbortSignal): boolean {
  return signal.aborted && signal.reason instanceof Error && signal.reason.name === 'TimeoutError';
}

const dialFailures: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by peer',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
  EADDRNOTAVAIL: 'cannot assign requested address',
};

interface SystemError {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly message?: unknown;
}

/** Why no connection was made, as Go says it. `address`: host and port. */
export function dialFailure(error: unknown, host: string, address: string): string {
  const { code, syscall, message } = error as SystemError;
  if (syscall === 'getaddrinfo') return `dial tcp: lookup ${host}: ${code === 'ENOTFOUND' ? 'no such host' : message}`;
  const reason = dialFailures[String(code)];
  return `dial tcp ${address}: ${reason === undefined ? message : `connect: ${reason}`}`;
}

/** Why an exchange over HTTP has failed, as Go says it. */
export function exchangeFailure(error: unknown, host: string, address: string): string {
  const { code, syscall, message } = error as SystemError;
  if (syscall === 'connect' || syscall === 'getaddrinfo' || error instanceof AggregateError)
    return dialFailure(error, host, address);
  if (code === 'ECONNRESET') return message === 'socket hang up' ? 'EOF' : `read tcp ${address}: read: connection reset by peer`;
  if (String(code).startsWith('HPE_'))
    return `net/http: HTTP/1.x transport connection broken: ${parseFailure(error as ParseError)}`;
  return String(message);
}

interface ParseError extends SystemError {
  /** What the server has sent. */
  readonly rawPacket?: unknown;
}

function parseFailure({ code, message, rawPacket }: ParseError): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'net/http: server response headers exceeded the limit; aborted';
  if (code !== 'HPE_INVALID_CONSTANT' || !Buffer.isBuffer(rawPacket)) return String(message);
  const [line = ''] = rawPacket.subarray(0, 256).toString('utf8').split(/\r?\n/);
  return `malformed HTTP response ${JSON.stringify(line)}`;
}
