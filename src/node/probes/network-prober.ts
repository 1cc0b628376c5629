import { type Clock, safeClock, systemClock } from '../../base/clock.ts';
import { optionOfType, requireKnownOptions, requireMethods } from '../../base/options.ts';
import { grpcProbe } from './grpc-probe.ts';
import { httpProbe } from './http-probe.ts';
import type { ExecProbeTarget, GrpcProbeTarget, HttpProbeTarget, ProbeOutcome, Prober, TcpProbeTarget } from './prober.ts';
import { tcpProbe } from './tcp-probe.ts';

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
