import type { Container } from '../conditions/restart-policy.ts';
import { podFullName } from '../pod/pod-identity.ts';
import type { Pod } from '../wire/types.ts';
import { containerPort } from './container-port.ts';
import { type ContainerProbe, probeSettings } from './probe-types.ts';
import type { ExecProbeTarget, GrpcProbeTarget, HttpProbeTarget, TcpProbeTarget } from './prober.ts';
import { withStaticVariables } from './static-variables.ts';

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
    return { method: 'http', target: { ...subject, scheme, host, port, path: httpGet.path ?? '', headers } };
  }
  if (tcpSocket) {
    const port = containerPort(tcpSocket.port, container);
    return { method: 'tcp', target: { ...subject, host: hostOf(tcpSocket.host, podIP), port } };
  }
  if (grpc) {
    const port = containerPort(grpc.port, container);
    return { method: 'grpc', target: { ...subject, host: hostOf(undefined, podIP), port, service: grpc.service ?? '' } };
  }
  throw new Error(`missing probe handler for ${podFullName(pod)}(${uid}):${container.name}`);
}

function hostOf(host: string | undefined, podIP: string | undefined): string {
  const found = host || podIP;
  if (found) return found;
  throw new Error('the pod has no IP address');
}
