import type { MessageInitShape } from '@bufbuild/protobuf';
import type {
  ContainerSecurityContext,
  NamespaceMode as ModeName,
  NamespaceOptions,
  SupplementalGroupsPolicy as PolicyName,
  SandboxSecurityContext,
  SecurityProfile,
} from '../../runtime/security.ts';
import {
  type LinuxContainerSecurityContextSchema,
  type LinuxSandboxSecurityContextSchema,
  NamespaceMode,
  type NamespaceOptionSchema,
  SecurityProfile_ProfileType as ProfileType,
  type SecurityProfileSchema,
  SupplementalGroupsPolicy,
} from '../proto/api_pb.ts';
import { known } from './known.ts';
import { int64, optionalInt64 } from './numbers.ts';

const modes: Readonly<Record<ModeName, NamespaceMode>> = {
  pod: NamespaceMode.POD,
  container: NamespaceMode.CONTAINER,
  node: NamespaceMode.NODE,
  target: NamespaceMode.TARGET,
};
const profileTypes: Readonly<Record<SecurityProfile['type'], ProfileType>> = {
  RuntimeDefault: ProfileType.RuntimeDefault,
  Unconfined: ProfileType.Unconfined,
  Localhost: ProfileType.Localhost,
};
const policies: Readonly<Record<PolicyName, SupplementalGroupsPolicy>> = {
  Merge: SupplementalGroupsPolicy.Merge,
  Strict: SupplementalGroupsPolicy.Strict,
};

/** The rights of a sandbox. */
export function sandboxSecurityRequest(
  context: SandboxSecurityContext,
): MessageInitShape<typeof LinuxSandboxSecurityContextSchema> {
  return { ...sharedSecurity(context), readonlyRootfs: context.readonlyRootfs ?? false };
}

/** The rights of a container. */
export function containerSecurityRequest(
  context: ContainerSecurityContext,
): MessageInitShape<typeof LinuxContainerSecurityContextSchema> {
  const { capabilities } = context;
  const request: MessageInitShape<typeof LinuxContainerSecurityContextSchema> = {
    ...sharedSecurity(context),
    runAsUsername: context.runAsUsername ?? '',
    readonlyRootfs: context.readonlyRootfs,
    noNewPrivs: context.noNewPrivs,
    maskedPaths: [...context.maskedPaths],
    readonlyPaths: [...context.readonlyPaths],
  };
  if (capabilities !== undefined) {
    request.capabilities = { addCapabilities: [...capabilities.add], dropCapabilities: [...capabilities.drop] };
  }
  return request;
}

/** What sandboxes and containers have in common. What is absent is left out, so that the runtime sees it is absent. */
function sharedSecurity(context: SandboxSecurityContext | ContainerSecurityContext) {
  const { selinuxOptions: selinux, seccomp, apparmor, supplementalGroupsPolicy: policy } = context;
  const [runAsUser, runAsGroup] = [optionalInt64(context.runAsUser), optionalInt64(context.runAsGroup)];
  return {
    namespaceOptions: namespacesRequest(context.namespaces),
    privileged: context.privileged,
    supplementalGroups: context.supplementalGroups.map(int64),
    supplementalGroupsPolicy: policy === undefined ? SupplementalGroupsPolicy.Merge : known('policy', policies, policy),
    ...(selinux && { selinuxOptions: { ...selinux } }),
    ...(runAsUser && { runAsUser }),
    ...(runAsGroup && { runAsGroup }),
    ...(seccomp && { seccomp: profileRequest(seccomp) }),
    ...(apparmor && { apparmor: profileRequest(apparmor) }),
  };
}

function namespacesRequest(namespaces: NamespaceOptions): MessageInitShape<typeof NamespaceOptionSchema> {
  const { network, pid, ipc, targetID = '' } = namespaces;
  return {
    network: known('namespace', modes, network),
    pid: known('namespace', modes, pid),
    ipc: known('namespace', modes, ipc),
    targetId: targetID,
  };
}

function profileRequest({ type, localhostRef = '' }: SecurityProfile): MessageInitShape<typeof SecurityProfileSchema> {
  return { profileType: known('profile', profileTypes, type), localhostRef };
}
