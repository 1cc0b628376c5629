import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ContainerFilter } from '../../runtime/container-runtime.ts';
import type {
  ContainerConfig,
  ContainerImage,
  KeyValue,
  Mount,
  MountPropagation as Propagation,
} from '../../runtime/runtime-containers.ts';
import { type ContainerConfigSchema, type ImageSpecSchema, MountPropagation, type MountSchema, Signal } from '../proto/api_pb.ts';
import { known } from './known.ts';
import { resourcesRequest } from './resources-request.ts';
import { podSelector } from './sandbox-request.ts';
import { containerSecurityRequest } from './security-request.ts';

const propagations: Readonly<Record<Propagation, MountPropagation>> = {
  private: MountPropagation.PROPAGATION_PRIVATE,
  hostToContainer: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  bidirectional: MountPropagation.PROPAGATION_BIDIRECTIONAL,
};
const utf8 = new TextEncoder();

/** What a container is made from. */
export function containerRequest(config: ContainerConfig): MessageInitShape<typeof ContainerConfigSchema> {
  const { metadata, workingDir, logPath, stdin, stdinOnce, tty, stopSignal } = config;
  return {
    metadata: { name: metadata.name, attempt: metadata.attempt },
    image: imageRequest(config.image),
    command: [...config.command],
    args: [...config.args],
    workingDir,
    envs: config.envs.map(envRequest),
    mounts: config.mounts.map(mountRequest),
    devices: config.devices.map(({ containerPath, hostPath, permissions }) => ({ containerPath, hostPath, permissions })),
    labels: { ...config.labels },
    annotations: { ...config.annotations },
    logPath,
    stdin,
    stdinOnce,
    tty,
    linux: {
      resources: resourcesRequest(config.resources),
      securityContext: containerSecurityRequest(config.securityContext),
    },
    stopSignal: stopSignal === undefined ? Signal.RUNTIME_DEFAULT : signalOf(stopSignal),
  };
}

/** Which containers are listed or measured: two messages with the same fields. */
export function containerFilter({ podUID, sandboxID = '', containerID = '' }: ContainerFilter) {
  return { id: containerID, podSandboxId: sandboxID, labelSelector: podSelector(podUID) };
}

function imageRequest({
  image,
  userSpecifiedImage = '',
  runtimeHandler = '',
}: ContainerImage): MessageInitShape<typeof ImageSpecSchema> {
  return { image, userSpecifiedImage, runtimeHandler };
}

/** Values are bytes in the proto file: an environment may hold what is no text. */
function envRequest({ key, value }: KeyValue) {
  return { key, value: typeof value === 'string' ? utf8.encode(value) : new Uint8Array(value) };
}

function mountRequest(mount: Mount): MessageInitShape<typeof MountSchema> {
  const { containerPath, hostPath, readonly, selinuxRelabel, image, imageSubPath = '' } = mount;
  return {
    containerPath,
    hostPath,
    readonly,
    selinuxRelabel,
    propagation: known('mount propagation', propagations, mount.propagation),
    recursiveReadOnly: mount.recursiveReadOnly ?? false,
    imageSubPath,
    ...(image !== undefined && { image: { image } }),
  };
}

/** `SIGRTMIN+3` of a pod is `SIGRTMINPLUS3` in the proto file. */
function signalOf(name: string): Signal {
  const key = name.replace('+', 'PLUS').replace('-', 'MINUS');
  return known('signal', Signal as Readonly<Record<string, Signal>>, key);
}
