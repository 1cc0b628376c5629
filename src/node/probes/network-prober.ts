import { connect } from 'node:net';
import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { podText } from '../../api/pod/pod-identity.ts';
import { type Clock, safeClock, systemClock } from '../../base/clock.ts';
import { onAbort } from '../../base/concurrency/aborts.ts';
import { optionOfType, requireKnownOptions, requireMethods } from '../../base/options.ts';
import { grpcProbe } from './grpc-probe.ts';
import { httpProbe } from './http-probe.ts';
import { type ContainerProbe, probeSettings } from './probe-types.ts';
import {
  dialFailure,
  type ExecProbeTarget,
  type GrpcProbeTarget,
  type HttpProbeTarget,
  isTimeout,
  joinHostPort,
  type ProbeOutcome,
  type Prober,
  type TcpProbeTarget,
  withStaticVariables,
} from './prober.ts';

/** What a network prober needs beside the network. Every option may be left out. */
export interface NetworkProberOptions {
  /** Runs a command in a container: a failure where it ends with another code than 0. Default: such probes cannot be made. */
  readonly exec?: Prober['exec'];
  /** True: `exec` counts the time of a command itself, as a container runtime does. Default false. */
  readonly timesExec?: boolean;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
}

/**
 * Probes over the network as the kubelet does, from this process. What a server may do to a probe is bounded: 10 KiB of a
 * body and 1 MiB of headers are read, ten requests made, and every connection is closed when the probe has ended.
 *
 * Behaviour of pkg/probe/http, tcp and grpc, v1.36.3, texts of failures included.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import type { AddressInfo } from 'node:net';
 * import { NetworkProber } from 'pod-status-manager/node';
 *
 * const app = createServer((_, response) => response.end('fine'));
 * await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
 * const { port } = app.address() as AddressInfo;
 * const subject = { podUID: '1', podName: 'web', namespace: 'default', containerName: 'app', containerID: 'containerd://1' };
 * const target = { ...subject, timeoutSeconds: 1, scheme: 'http', host: '127.0.0.1', port, path: '/healthz', headers: [] };
 *
 * const { result, output } = await new NetworkProber().http(target, AbortSignal.timeout(1000));
 * console.log(result, output); // success fine
 * app.close();
 * ```
 */
export class NetworkProber implements Prober {
  /** Whether the option `exec` counts the time of a command itself. */
  readonly timesExec: boolean;
  readonly #exec: Prober['exec'] | undefined;
  readonly #clock: Clock;

  /** Throws ERR_INVALID_OPTION. */
  constructor(options: NetworkProberOptions = {}) {
    requireKnownOptions('options', options, ['exec', 'timesExec', 'clock']);
    const { exec, timesExec = false, clock = systemClock } = options;
    if (exec !== undefined) optionOfType('exec', exec, 'function');
    requireMethods('clock', clock, ['now', 'setTimer']);
    this.timesExec = optionOfType('timesExec', timesExec, 'boolean');
    this.#exec = exec;
    this.#clock = safeClock(clock);
  }

  /** Hands the probe to the option `exec`. Rejects where that is not given: the probe cannot be made. */
  async exec(target: ExecProbeTarget, signal: AbortSignal): Promise<ProbeOutcome> {
    if (this.#exec === undefined) throw new Error('exec probes cannot be made: the prober has no function that runs commands');
    return this.#exec(target, signal);
  }

  /**
   * Succeeds on a status code from 200 to 399, after at most nine redirects within the host. A redirect to another host is a
   * warning, anything else a failure.
   */
  async http(target: HttpProbeTarget, signal: AbortSignal): Promise<ProbeOutcome> {
    return httpProbe(target, signal);
  }

  /** Succeeds once the port takes a connection, which is closed at once. */
  async tcp(target: TcpProbeTarget, signal: AbortSignal): Promise<ProbeOutcome> {
    return tcpProbe(target, signal);
  }

  /** Asks the standard health service of the server. Succeeds where it answers SERVING. */
  async grpc(target: GrpcProbeTarget, signal: AbortSignal): Promise<ProbeOutcome> {
    return grpcProbe(target, signal, this.#clock);
  }
}

/** So much a request of a probe has of the spec's texts at most, in bytes. No server takes more. */
const mostRequestBytes = 131_072;

/** What is probed, and by which method of the prober. */
export type ProbeTarget =
  | { readonly method: 'exec'; readonly target: ExecProbeTarget }
  | { readonly method: 'http'; readonly target: HttpProbeTarget }
  | { readonly method: 'tcp'; readonly target: TcpProbeTarget }
  | { readonly method: 'grpc'; readonly target: GrpcProbeTarget };

export interface ProbedPart {
  readonly pod: Pod;
  readonly container: Container;
  readonly probe: ContainerProbe;
  readonly containerID: string;
  /** The pod's primary address, as its status has it; undefined or empty where it has none. */
  readonly podIP: string | undefined;
}

/** What is made of a command is held while it runs. More than this, in bytes, is large: one pod has one such command at a time. */
const largeCommand = 4096;

/** True for a command that holds much more than the pod itself: its variables have made it long. */
export function isLargeCommand({ exec }: ContainerProbe, aim: ProbeTarget): boolean {
  if (aim.method !== 'exec') return false;
  const made = aim.target.command.filter((part, index) => part !== exec?.command?.[index]);
  return made.reduce((sum, { length }) => sum + length, 0) > largeCommand;
}

/**
 * What the probe is aimed at. Throws an error in upstream's words where the spec says nothing that can be probed, and for a
 * pod without an address: an empty host would be this node. Behaviour of pkg/kubelet/prober (runProbe), v1.36.3.
 */
export function probeTarget({ pod, container, probe, containerID, podIP }: ProbedPart): ProbeTarget {
  const { uid = '', name = '', namespace = '' } = pod.metadata ?? {};
  const subject = {
    podUID: uid,
    podName: name,
    namespace,
    containerName: container.name,
    containerID,
    timeoutSeconds: probeSettings(probe).timeoutSeconds,
  };
  const { exec, httpGet, tcpSocket, grpc } = probe;
  if (exec) {
    return { method: 'exec', target: { ...subject, command: withStaticVariables(exec.command ?? [], container.env) } };
  }
  if (httpGet) {
    const scheme = httpGet.scheme?.toLowerCase() || 'http';
    const port = containerPort(httpGet.port, container);
    const host = hostOf(httpGet.host, podIP);
    const headers = (httpGet.httpHeaders ?? []).map((header) => ({ name: header.name, value: header.value }));
    const { path = '' } = httpGet;
    requireShort([path, ...headers.flatMap(({ name, value }) => [name, value])]);
    return { method: 'http', target: { ...subject, scheme, host, port, path, headers } };
  }
  if (tcpSocket) {
    const port = containerPort(tcpSocket.port, container);
    return { method: 'tcp', target: { ...subject, host: hostOf(tcpSocket.host, podIP), port } };
  }
  if (grpc) {
    const port = containerPort(grpc.port, container);
    const service = grpc.service ?? '';
    requireShort([service]);
    return { method: 'grpc', target: { ...subject, host: hostOf(undefined, podIP), port, service } };
  }
  throw new Error(`missing probe handler for ${podText(pod)}:${container.name}`);
}

function requireShort(texts: readonly string[]): void {
  let bytes = 0;
  for (const text of texts) bytes += Buffer.byteLength(text);
  if (bytes > mostRequestBytes) throw new Error(`the request of the probe has more than ${mostRequestBytes} bytes`);
}

function hostOf(host: string | undefined, podIP: string | undefined): string {
  const found = host || podIP;
  if (found) return found;
  throw new Error('the pod has no IP address');
}

/** Longer than any number of 64 bits, zeros in front of it aside. */
const tooLong = 20;
const smallest = -(2n ** 63n);
const largest = 2n ** 63n - 1n;

/**
 * The number of a port that is given by number, or by the name that the container gives to it. Throws an error in
 * upstream's words for a port that is none. Behaviour of pkg/probe ResolveContainerPort, v1.36.3.
 */
export function containerPort(port: unknown, container: Container): number {
  const number = typeof port === 'number' ? port : portByName(String(port), container);
  if (Number.isInteger(number) && number > 0 && number < 65_536) return number;
  throw new Error(`invalid port number: ${number}`);
}

function portByName(name: string, container: Container): number {
  const found = container.ports?.find((port) => port.name === name);
  if (found !== undefined) return found.containerPort;
  if (!/^[+-]?\d+$/.test(name)) throw new Error(`strconv.Atoi: parsing ${JSON.stringify(name)}: invalid syntax`);
  const digits = name.replace(/^[+-]?0*/, '');
  const size = digits.length < tooLong ? BigInt(digits) : largest + 2n;
  const value = name.startsWith('-') ? -size : size;
  if (value < smallest || value > largest) throw new Error(`strconv.Atoi: parsing ${JSON.stringify(name)}: value out of range`);
  return Number(value);
}

// Behaviour of pkg/probe/tcp, v1.36.3.

/** A success when the port takes a connection, which is closed at once. */
function tcpProbe({ host, port }: TcpProbeTarget, signal: AbortSignal): Promise<ProbeOutcome> {
  const address = joinHostPort(host, port);
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    let leave = (): void => {};
    const end = (outcome: ProbeOutcome): void => {
      leave();
      socket.destroy();
      resolve(outcome);
    };
    const abort = (): void =>
      end({ result: 'failure', output: isTimeout(signal) ? `dial tcp ${address}: i/o timeout` : 'given up' });
    socket.on('error', (error) => end({ result: 'failure', output: dialFailure(error, host, address) }));
    socket.once('connect', () => end({ result: 'success' }));
    leave = onAbort(signal, abort);
  });
}
