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
