import { expanded } from '../../api/pod/expansion.ts';
import type { Container } from '../../api/pod/pod-containers.ts';

/** What every probe is about. */
export interface ProbeSubject {
  /** The pod's `metadata.uid`. */
  readonly podUID: string;
  /** The pod's name. */
  readonly podName: string;
  /** The pod's namespace. */
  readonly namespace: string;
  /** The container's name in the spec. */
  readonly containerName: string;
  /** With the runtime's name before it: `containerd://1234`. */
  readonly containerID: string;
  /** How long the probe may take. When it is over, the signal aborts with a `TimeoutError`. */
  readonly timeoutSeconds: number;
}

/** A command to run in a container. */
export interface ExecProbeTarget extends ProbeSubject {
  /** The program and its arguments; references to the container's own plain variables are replaced. */
  readonly command: readonly string[];
}

/** A GET request to make. */
export interface HttpProbeTarget extends ProbeSubject {
  /** In lower case; `https` for a probe over TLS, otherwise what the spec says. */
  readonly scheme: string;
  /** A name or an address; IPv6 without brackets. */
  readonly host: string;
  /** From 1 to 65535. */
  readonly port: number;
  /** As the spec has it: it may have a query, may lack the first slash, and may be no valid path. */
  readonly path: string;
  /** Those of the spec, in its order. A name may come twice. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

/** A connection to open. */
export interface TcpProbeTarget extends ProbeSubject {
  /** A name or an address; IPv6 without brackets. */
  readonly host: string;
  /** From 1 to 65535. */
  readonly port: number;
}

/** A health check of a gRPC server to make. */
export interface GrpcProbeTarget extends ProbeSubject {
  /** A name or an address; IPv6 without brackets. */
  readonly host: string;
  /** From 1 to 65535. */
  readonly port: number;
  /** Empty: the server as a whole. */
  readonly service: string;
}

/** How a probe has ended. */
export interface ProbeOutcome {
  /** `warning`: a success of which an event tells. `unknown` counts as a failure of which no event tells. */
  readonly result: 'success' | 'warning' | 'failure' | 'unknown';
  /** What the probe has to say; it is in the event of a failure or a warning. */
  readonly output?: string;
  /** The probe could not be made. It is made again, twice at most; if that fails, too, it says nothing. */
  readonly error?: unknown;
}

/**
 * Makes probes. A method that throws or rejects is one that could not make the probe, as with `error`. `signal` aborts
 * when the time of the probe is over (the reason is a `TimeoutError`), or when nobody wants its result any more: the method
 * should then settle at once. What it answers after a timeout still counts, if it comes within a turn of the event loop;
 * otherwise the probe has failed.
 */
export interface Prober {
  /**
   * True: `exec` counts the time of a command itself, from its start, and says of one that takes too long that it has failed. The
   * signal then aborts two minutes after the time of the probe is over. Default false.
   */
  readonly timesExec?: boolean;
  /** Runs a command in the container; a success where it ends with code 0. */
  exec(target: ExecProbeTarget, signal: AbortSignal): Promise<ProbeOutcome>;
  /** Makes a GET request. */
  http(target: HttpProbeTarget, signal: AbortSignal): Promise<ProbeOutcome>;
  /** Opens a connection. */
  tcp(target: TcpProbeTarget, signal: AbortSignal): Promise<ProbeOutcome>;
  /** Asks the health service of a gRPC server. */
  grpc(target: GrpcProbeTarget, signal: AbortSignal): Promise<ProbeOutcome>;
}

/** The texts of one probe's command that were made from variables, in bytes: so many as Linux takes for one argument. */
const mostBytes = 131_072;

/**
 * The command with each `$(NAME)` replaced by the value that the container's spec gives to that variable; `$$` is a dollar
 * sign, and a reference to another variable stays as it is. A variable whose value comes from elsewhere is empty. Throws an
 * `Error` where the parts in which something is replaced come to more than 131,072 bytes, before they are made.
 * Behaviour of pkg/kubelet/container ExpandContainerCommandOnlyStatic, v1.36.3.
 */
export function withStaticVariables(command: readonly string[], env: Container['env']): string[] {
  if (!command.some((part) => part.includes('$'))) return [...command];
  const values = new Map((env ?? []).map(({ name, value }) => [name, value ?? '']));
  let left = mostBytes;
  return command.map((part) => {
    if (!part.includes('$')) return part;
    const text = expanded(part, (name) => values.get(name), { mostBytes: left, tooLong });
    left -= Buffer.byteLength(text);
    return text;
  });
}

function tooLong(): Error {
  return new Error(`the command of the probe has more than ${mostBytes} bytes once its variables are replaced`);
}

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
