import type { WirePodStatus } from '../api/wire.ts';

/**
 * `status` with what the apiserver fills in by itself where the agent left it out: a difference only there is none,
 * or the manager would patch for ever. Facts measured on kube-apiserver v1.36.3: `qosClass` and `observedGeneration`
 * stay, and a `podIP` without `podIPs` becomes a list of one.
 */
export function withServerFillIns(status: WirePodStatus, server: WirePodStatus): WirePodStatus {
  const fill: Partial<WirePodStatus> = {};
  if (status.qosClass === undefined && server.qosClass !== undefined) fill.qosClass = server.qosClass;
  if (status.observedGeneration === undefined && server.observedGeneration !== undefined) {
    fill.observedGeneration = server.observedGeneration;
  }
  if (status.podIPs === undefined && status.podIP !== undefined && isListOfOne(server.podIPs, status.podIP)) {
    fill.podIPs = server.podIPs;
  }
  for (const _ in fill) return { ...status, ...fill };
  return status;
}

function isListOfOne(podIPs: WirePodStatus['podIPs'], ip: string): podIPs is NonNullable<WirePodStatus['podIPs']> {
  return podIPs?.length === 1 && podIPs[0]?.ip === ip;
}
