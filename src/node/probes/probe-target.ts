import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { podFullName } from '../../api/pod/pod-identity.ts';
import { containerPort } from './container-port.ts';
import { type ContainerProbe, probeSettings } from './probe-types.ts';
import type { ExecProbeTarget, GrpcProbeTarget, HttpProbeTarget, TcpProbeTarget } from './prober.ts';
import { withStaticVariables } from './static-variables.ts';

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
  throw new Error(`missing probe handler for ${podFullName(pod)}(${uid}):${container.name}`);
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
