// Behaviour of pkg/apis/core/validation for containers, v1.36.3.

import { isRestartableInitContainer } from '../pod/pod-containers.ts';
import { checkFieldRef, checkResourceFieldRef, envFieldPaths } from './field-ref-rules.ts';
import { check, refuse } from './invalid-manifest.ts';
import type { ManifestContainer, ManifestPodSpec, Probe, Volume } from './pod-types.ts';
import { checkContainerResources, checkResizePolicy } from './resource-rules.ts';
import { checkSecurityContext } from './security-rules.ts';
import {
  checkDescendingPath,
  checkDnsLabel,
  checkDnsSubdomain,
  checkEnvName,
  checkNoBacksteps,
  checkNotPadded,
  checkOneOf,
  checkOptionalOneOf,
  checkPort,
  checkPortName,
  checkPortOrName,
  checkPresent,
  checkUnique,
} from './text-rules.ts';
import { pullPolicies } from './volume-rules.ts';

const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;

/** Regular and init containers share one set of names. */
export function checkContainers(spec: ManifestPodSpec, volumes: ReadonlyMap<string, Volume>): void {
  const claims = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  check(spec.containers.length > 0, 'spec.containers', 'a list that is not empty', spec.containers);
  const names = new Set<string>();
  const hostPorts = new Set<string>();
  for (const [index, container] of spec.containers.entries()) {
    const path = `spec.containers[${index}]`;
    checkContainer(path, container, spec, { volumes, claims });
    checkUnique(`${path}.name`, names, container.name);
    checkHostPorts(path, container, hostPorts);
    checkRunning(path, container, spec);
  }
  for (const [index, container] of (spec.initContainers ?? []).entries()) {
    const path = `spec.initContainers[${index}]`;
    checkContainer(path, container, spec, { volumes, claims });
    checkUnique(`${path}.name`, names, container.name);
    checkHostPorts(path, container, new Set());
    checkInitContainer(path, container, spec);
  }
}

/** What a pod's containers may refer to. */
interface Referents {
  readonly volumes: ReadonlyMap<string, Volume>;
  readonly claims: ReadonlySet<string>;
}

function checkContainer(path: string, container: ManifestContainer, spec: ManifestPodSpec, { volumes, claims }: Referents): void {
  checkDnsLabel(`${path}.name`, container.name);
  checkPresent(`${path}.image`, container.image);
  checkNotPadded(`${path}.image`, container.image ?? '');
  checkOneOf(`${path}.terminationMessagePolicy`, container.terminationMessagePolicy, ['File', 'FallbackToLogsOnError']);
  checkPorts(`${path}.ports`, container, spec);
  checkEnv(`${path}.env`, container.env ?? [], volumes);
  checkEnvFrom(`${path}.envFrom`, container.envFrom ?? []);
  checkMounts(path, container, volumes, spec);
  checkOneOf(`${path}.imagePullPolicy`, container.imagePullPolicy, pullPolicies);
  checkContainerResources(`${path}.resources`, container.resources ?? {}, claims);
  checkResizePolicy(`${path}.resizePolicy`, container, spec);
  checkSecurityContext(`${path}.securityContext`, container.securityContext, spec);
  checkRestartPolicy(path, container);
}

function checkPorts(path: string, { ports = [] }: ManifestContainer, spec: ManifestPodSpec): void {
  const names = new Set<string>();
  for (const [index, { name, containerPort, hostPort, protocol }] of ports.entries()) {
    const place = `${path}[${index}]`;
    if (name !== undefined) {
      checkPortName(`${place}.name`, name);
      checkUnique(`${place}.name`, names, name);
    }
    checkPort(`${place}.containerPort`, containerPort);
    if (hostPort !== undefined) checkPort(`${place}.hostPort`, hostPort);
    checkOneOf(`${place}.protocol`, protocol, ['TCP', 'UDP', 'SCTP']);
    const fits =
      !spec.hostNetwork || hostPort === undefined || hostPort === containerPort || path.startsWith('spec.initContainers');
    check(fits, `${place}.hostPort`, 'the containerPort, as hostNetwork is true', hostPort);
  }
}

function checkHostPorts(path: string, { ports = [] }: ManifestContainer, seen: Set<string>): void {
  for (const [index, { hostPort, hostIP = '', protocol }] of ports.entries()) {
    if (hostPort !== undefined) checkUnique(`${path}.ports[${index}].hostPort`, seen, `${protocol}/${hostIP}/${hostPort}`);
  }
}

/** What a container that keeps running may have beside. */
function checkRunning(path: string, container: ManifestContainer, spec: ManifestPodSpec): void {
  if (container.lifecycle) checkLifecycle(`${path}.lifecycle`, container.lifecycle, spec);
  for (const kind of probes) {
    const probe = container[kind];
    if (probe) checkProbe(`${path}.${kind}`, probe, kind);
  }
}

function checkInitContainer(path: string, container: ManifestContainer, spec: ManifestPodSpec): void {
  if (isRestartableInitContainer(container)) {
    checkRunning(path, container, spec);
    return;
  }
  for (const field of ['lifecycle', ...probes] as const) {
    if (container[field]) refuse(`${path}.${field}`, 'absent: only init containers of restartPolicy Always may have it', {});
  }
  for (const [index, { restartPolicy }] of (container.resizePolicy ?? []).entries()) {
    const place = `${path}.resizePolicy[${index}].restartPolicy`;
    check(restartPolicy !== 'RestartContainer', place, 'another policy for an init container that ends', restartPolicy);
  }
}

// Behaviour of pkg/apis/core/validation for environment variables, v1.36.3.

type EnvVar = NonNullable<ManifestContainer['env']>[number];
type EnvVarSource = NonNullable<EnvVar['valueFrom']>;

const longestKey = 253;

function checkEnv(path: string, variables: readonly EnvVar[], volumes: ReadonlyMap<string, Volume>): void {
  for (const [index, { name, value = '', valueFrom }] of variables.entries()) {
    checkEnvName(`${path}[${index}].name`, name);
    if (valueFrom === undefined) continue;
    const sources = Object.keys(valueFrom);
    const place = `${path}[${index}].valueFrom`;
    check(sources.length === 1, place, 'exactly one source', sources.join(', '));
    check(value === '', place, 'absent beside a value', value);
    checkSource(place, valueFrom, volumes);
  }
}

function checkSource(path: string, source: EnvVarSource, volumes: ReadonlyMap<string, Volume>): void {
  if (source.fieldRef) checkFieldRef(`${path}.fieldRef`, source.fieldRef, envFieldPaths);
  if (source.resourceFieldRef) checkResourceFieldRef(`${path}.resourceFieldRef`, source.resourceFieldRef, false);
  for (const kind of ['configMapKeyRef', 'secretKeyRef'] as const) {
    const ref = source[kind];
    if (ref === undefined) continue;
    checkDnsSubdomain(`${path}.${kind}.name`, ref.name ?? '');
    check(
      ref.key.length <= longestKey && /^[-._a-zA-Z0-9]+$/.test(ref.key),
      `${path}.${kind}.key`,
      'letters, digits, "-", "_" and "."',
      ref.key,
    );
  }
  if (source.fileKeyRef) checkFileKeyRef(`${path}.fileKeyRef`, source.fileKeyRef, volumes);
}

/** A key of a file in an empty directory. */
function checkFileKeyRef(path: string, ref: NonNullable<EnvVarSource['fileKeyRef']>, volumes: ReadonlyMap<string, Volume>): void {
  checkEnvName(`${path}.key`, ref.key);
  checkDnsLabel(`${path}.volumeName`, ref.volumeName);
  checkPresent(`${path}.path`, ref.path);
  checkNoBacksteps(`${path}.path`, ref.path);
  check(
    volumes.get(ref.volumeName)?.emptyDir !== undefined,
    `${path}.volumeName`,
    'the name of an emptyDir volume',
    ref.volumeName,
  );
}

function checkEnvFrom(path: string, sources: NonNullable<ManifestContainer['envFrom']>): void {
  for (const [index, { prefix, ...source }] of sources.entries()) {
    if (prefix !== undefined) checkEnvName(`${path}[${index}].prefix`, prefix);
    const kinds = Object.entries(source);
    check(kinds.length === 1, `${path}[${index}]`, 'exactly one of configMapRef and secretRef', kinds.length);
    for (const [kind, ref] of kinds) checkPresent(`${path}[${index}].${kind}.name`, ref?.name);
  }
}

// Behaviour of pkg/apis/core/validation for volume mounts and devices, v1.36.3.

type Mount = NonNullable<ManifestContainer['volumeMounts']>[number];

function checkMounts(
  path: string,
  container: ManifestContainer,
  volumes: ReadonlyMap<string, Volume>,
  spec: ManifestPodSpec,
): void {
  const places = new Set<string>();
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const place = `${path}.volumeMounts[${index}]`;
    checkPresent(`${place}.mountPath`, mount.mountPath);
    check(volumes.has(mount.name), `${place}.name`, 'the name of a volume', mount.name);
    checkUnique(`${place}.mountPath`, places, mount.mountPath);
    if (mount.subPath !== undefined) checkDescendingPath(`${place}.subPath`, mount.subPath);
    if (mount.subPathExpr !== undefined) {
      check(mount.subPath === undefined, `${place}.subPathExpr`, 'absent beside a subPath', mount.subPathExpr);
      checkDescendingPath(`${place}.subPathExpr`, mount.subPathExpr);
    }
    checkPropagation(place, mount, container);
    checkRecursiveReadOnly(place, mount);
  }
  checkDevices(`${path}.volumeDevices`, container, volumes, spec);
}

function checkPropagation(path: string, { mountPropagation }: Mount, { securityContext }: ManifestContainer): void {
  checkOptionalOneOf(`${path}.mountPropagation`, mountPropagation, ['Bidirectional', 'HostToContainer', 'None']);
  const mayPropagate = mountPropagation !== 'Bidirectional' || securityContext?.privileged === true;
  check(
    mayPropagate,
    `${path}.mountPropagation`,
    'another one: only privileged containers may propagate to the node',
    mountPropagation,
  );
}

function checkRecursiveReadOnly(path: string, mount: Mount): void {
  const { recursiveReadOnly, readOnly, mountPropagation = 'None' } = mount;
  checkOptionalOneOf(`${path}.recursiveReadOnly`, recursiveReadOnly, ['Disabled', 'IfPossible', 'Enabled']);
  if (recursiveReadOnly === undefined || recursiveReadOnly === 'Disabled') return;
  check(readOnly === true, `${path}.recursiveReadOnly`, 'absent where readOnly is not true', recursiveReadOnly);
  checkOneOf(`${path}.mountPropagation`, mountPropagation, ['None']);
}

/** Only claims are devices, and a static pod may have none: no device passes. */
function checkDevices(
  path: string,
  container: ManifestContainer,
  volumes: ReadonlyMap<string, Volume>,
  spec: ManifestPodSpec,
): void {
  for (const [index, { name, devicePath }] of (container.volumeDevices ?? []).entries()) {
    const volume = volumes.get(name);
    const isClaim = volume?.persistentVolumeClaim !== undefined || volume?.ephemeral !== undefined;
    check(isClaim, `${path}[${index}].name`, 'the name of a volume that is a claim', name);
    checkPresent(`${path}[${index}].devicePath`, devicePath);
    checkNoBacksteps(`${path}[${index}].devicePath`, devicePath);
    if (spec.hostUsers === false) refuse(path, 'absent where hostUsers is false', name);
  }
}

// Behaviour of pkg/apis/core/validation for probes and lifecycle hooks, v1.36.3.

type Lifecycle = NonNullable<ManifestContainer['lifecycle']>;
type Handler = Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'> & { readonly sleep?: { readonly seconds: number } };

const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;
const probeNumbers = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'] as const;

function checkProbe(path: string, probe: Probe, kind: 'livenessProbe' | 'readinessProbe' | 'startupProbe'): void {
  checkHandler(path, probe, undefined);
  for (const amount of probeNumbers) check((probe[amount] ?? 0) >= 0, `${path}.${amount}`, 'at least 0', probe[amount]);
  const grace = probe.terminationGracePeriodSeconds;
  check(grace === undefined || grace > 0, `${path}.terminationGracePeriodSeconds`, 'at least 1', grace);
  if (kind === 'readinessProbe') check(grace === undefined, `${path}.terminationGracePeriodSeconds`, 'absent', grace);
  else check(probe.successThreshold === 1, `${path}.successThreshold`, '1', probe.successThreshold);
}

function checkLifecycle(path: string, { postStart, preStop, stopSignal }: Lifecycle, spec: ManifestPodSpec): void {
  if (postStart) checkHandler(`${path}.postStart`, postStart, spec.terminationGracePeriodSeconds);
  if (preStop) checkHandler(`${path}.preStop`, preStop, spec.terminationGracePeriodSeconds);
  if (stopSignal === undefined) return;
  checkPresent('spec.os.name', spec.os?.name);
  checkOneOf(`${path}.stopSignal`, stopSignal, spec.os?.name === 'windows' ? ['SIGKILL', 'SIGTERM'] : stopSignals);
}

function checkHandler(path: string, handler: Handler, graceSeconds: number | undefined): void {
  const given = handlers.filter((kind) => handler[kind] !== undefined);
  check(given.length === 1, path, 'exactly one handler', given.join(', '));
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  if (exec) check((exec.command?.length ?? 0) > 0, `${path}.exec.command`, 'a list that is not empty', exec.command);
  if (tcpSocket) checkPortOrName(`${path}.tcpSocket.port`, tcpSocket.port);
  if (grpc) checkPort(`${path}.grpc.port`, grpc.port);
  if (sleep && graceSeconds !== undefined) {
    const fits = sleep.seconds >= 0 && sleep.seconds <= graceSeconds;
    check(fits, `${path}.sleep.seconds`, `from 0 to terminationGracePeriodSeconds (${graceSeconds})`, sleep.seconds);
  }
  if (httpGet) checkHttpGet(`${path}.httpGet`, httpGet);
}

function checkHttpGet(path: string, httpGet: NonNullable<Handler['httpGet']>): void {
  checkPortOrName(`${path}.port`, httpGet.port);
  checkOneOf(`${path}.scheme`, httpGet.scheme, ['HTTP', 'HTTPS']);
  for (const [index, { name }] of (httpGet.httpHeaders ?? []).entries()) {
    check(/^[-A-Za-z0-9]+$/.test(name), `${path}.httpHeaders[${index}].name`, 'letters, digits and hyphens', name);
  }
}

const stopSignals: readonly string[] = [
  ...['ABRT', 'ALRM', 'BUS', 'CHLD', 'CLD', 'CONT', 'FPE', 'HUP', 'ILL', 'INT', 'IO', 'IOT', 'KILL', 'PIPE', 'POLL', 'PROF'],
  ...['PWR', 'QUIT', 'SEGV', 'STKFLT', 'STOP', 'SYS', 'TERM', 'TRAP', 'TSTP', 'TTIN', 'TTOU', 'URG', 'USR1', 'USR2'],
  ...['VTALRM', 'WINCH', 'XCPU', 'XFSZ', 'RTMIN', 'RTMAX'],
  ...Array.from({ length: 15 }, (_, index) => `RTMIN+${index + 1}`),
  ...Array.from({ length: 14 }, (_, index) => `RTMAX-${index + 1}`),
].map((name) => `SIG${name}`);

// Behaviour of pkg/apis/core/validation for restart policies of containers, v1.36.3.

const mostRules = 20;
const mostExitCodes = 255;

function checkRestartPolicy(path: string, { restartPolicy, restartPolicyRules = [] }: ManifestContainer): void {
  checkOptionalOneOf(`${path}.restartPolicy`, restartPolicy, ['Always', 'OnFailure', 'Never']);
  const place = `${path}.restartPolicyRules`;
  if (restartPolicyRules.length > 0) checkPresent(`${path}.restartPolicy`, restartPolicy);
  check(restartPolicyRules.length <= mostRules, place, `at most ${mostRules} rules`, restartPolicyRules.length);
  for (const [index, { action, exitCodes }] of restartPolicyRules.entries()) {
    checkOneOf(`${place}[${index}].action`, action, ['Restart', 'RestartAllContainers']);
    checkPresent(`${place}[${index}].exitCodes`, exitCodes);
    checkOneOf(`${place}[${index}].exitCodes.operator`, exitCodes?.operator, ['In', 'NotIn']);
    const codes = exitCodes?.values?.length ?? 0;
    check(codes <= mostExitCodes, `${place}[${index}].exitCodes.values`, `at most ${mostExitCodes} exit codes`, codes);
  }
}
