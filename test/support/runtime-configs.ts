import type { ContainerConfig } from '../../src/kubelet/runtime/runtime-containers.ts';
import { type PodSandboxConfig, runtimeAnnotations, runtimeLabels } from '../../src/kubelet/runtime/runtime-sandboxes.ts';

/** The sandbox of a pod, as an agent asks for it. */
export function sandboxConfigOf(uid: string, attempt = 0, more: Partial<PodSandboxConfig> = {}): PodSandboxConfig {
  const metadata = { name: `pod-${uid}`, namespace: 'default', uid, attempt };
  return {
    metadata,
    hostname: metadata.name,
    logDirectory: `/var/log/pods/default_${metadata.name}_${uid}`,
    portMappings: [],
    labels: podLabels(uid),
    annotations: {},
    linux: {
      cgroupParent: `/kubepods/pod${uid}`,
      securityContext: {
        namespaces: { network: 'pod', pid: 'container', ipc: 'pod' },
        supplementalGroups: [],
        privileged: false,
      },
      sysctls: {},
    },
    ...more,
  };
}

/** A container of that pod. */
export function containerConfigOf(uid: string, name = 'app', attempt = 0, more: Partial<ContainerConfig> = {}): ContainerConfig {
  return {
    metadata: { name, attempt },
    image: { image: 'busybox' },
    command: [],
    args: [],
    workingDir: '',
    envs: [],
    mounts: [],
    devices: [],
    labels: { ...podLabels(uid), [runtimeLabels.containerName]: name },
    annotations: { [runtimeAnnotations.restartCount]: String(attempt) },
    logPath: `${name}/${attempt}.log`,
    stdin: false,
    stdinOnce: false,
    tty: false,
    resources: {},
    securityContext: {
      privileged: false,
      namespaces: { network: 'pod', pid: 'container', ipc: 'pod' },
      readonlyRootfs: false,
      supplementalGroups: [],
      noNewPrivs: false,
      maskedPaths: [],
      readonlyPaths: [],
    },
    ...more,
  };
}

function podLabels(uid: string): Record<string, string> {
  return {
    [runtimeLabels.podName]: `pod-${uid}`,
    [runtimeLabels.podNamespace]: 'default',
    [runtimeLabels.podUID]: uid,
  };
}
