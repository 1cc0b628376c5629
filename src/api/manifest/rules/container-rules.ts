// Behaviour of pkg/apis/core/validation for containers, v1.36.3.
import { check, refuse } from '../text/invalid-manifest.ts';
import { type Container, isSidecar, type PodSpec, type Volume } from '../types/pod-parts.ts';
import { checkEnv, checkEnvFrom } from './env-rules.ts';
import { checkLifecycle, checkProbe } from './handler-rules.ts';
import { checkMounts } from './mount-rules.ts';
import { checkContainerResources, checkResizePolicy } from './resource-rules.ts';
import { checkRestartPolicy } from './restart-rules.ts';
import { checkSecurityContext } from './security-rules.ts';
import { checkDnsLabel, checkNotPadded, checkOneOf, checkPort, checkPortName, checkPresent, checkUnique } from './text-rules.ts';
import { pullPolicies } from './volume-rules.ts';

const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;

/** Regular and init containers share one set of names. */
export function checkContainers(spec: PodSpec, volumes: ReadonlyMap<string, Volume>): void {
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

function checkContainer(path: string, container: Container, spec: PodSpec, { volumes, claims }: Referents): void {
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

function checkPorts(path: string, { ports = [] }: Container, spec: PodSpec): void {
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

function checkHostPorts(path: string, { ports = [] }: Container, seen: Set<string>): void {
  for (const [index, { hostPort, hostIP = '', protocol }] of ports.entries()) {
    if (hostPort !== undefined) checkUnique(`${path}.ports[${index}].hostPort`, seen, `${protocol}/${hostIP}/${hostPort}`);
  }
}

/** What a container that keeps running may have beside. */
function checkRunning(path: string, container: Container, spec: PodSpec): void {
  if (container.lifecycle) checkLifecycle(`${path}.lifecycle`, container.lifecycle, spec);
  for (const kind of probes) {
    const probe = container[kind];
    if (probe) checkProbe(`${path}.${kind}`, probe, kind);
  }
}

function checkInitContainer(path: string, container: Container, spec: PodSpec): void {
  if (isSidecar(container)) {
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
