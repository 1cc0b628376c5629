import { describe, expect, it } from 'vitest';
import type { Pod, WireNode } from '../../../../src/api/json/types.ts';
import {
  type AdmissionContext,
  admitPod,
  appArmorSupport,
  nodeKind,
  nodePressure,
  schedulerPredicates,
} from '../../../../src/kubelet/admission/pod-admission.ts';
import { allowedSysctls, requireSysctlPatterns } from '../../../../src/kubelet/admission/sysctls.ts';
import { type BareParts, barePod } from '../../../support/pods.ts';

const node: WireNode = {
  metadata: { name: 'node-1', labels: { disk: 'ssd', rank: '7' } },
  spec: {},
  status: { allocatable: { 'example.com/gpu': '1', cpu: '2', memory: '1Gi', 'ephemeral-storage': '10Gi', pods: '3' } },
};
const requests = (given: Record<string, string>): Pod => pod({ containers: [{ name: 'app', resources: { requests: given } }] });
const withClaim = (resourceName: string): Pod => {
  const requestMappings = [{ containerName: 'app', resourceName, requestName: 'r' }];
  const status = { extendedResourceClaimStatus: { resourceClaimName: 'c', requestMappings } };
  return { ...requests({ [resourceName]: '1' }), status };
};
const pod = (spec: BareParts['spec'] = {}, metadata: BareParts['metadata'] = {}): Pod =>
  barePod({ metadata: { name: 'p', uid: 'p', ...metadata }, spec });
const critical = (cpu: string): Pod => pod({ ...requests({ cpu }).spec, priority: 2_000_000_000 });
const context = (given: Pod, more: Partial<AdmissionContext> = {}): AdmissionContext => ({
  ...{ pod: given, others: [], node, pressures: {} },
  ...more,
});
const port = (hostPort: number, hostIP?: string, protocol?: string): Pod =>
  pod({ containers: [{ name: 'app', image: 'app', ports: [{ containerPort: 80, hostPort, hostIP, protocol }] }] });

describe('what a scheduler looks at', () => {
  it.each([
    ['room for it', requests({ cpu: '500m', memory: '1Mi' }), [requests({ cpu: '1500m' })], undefined],
    [
      'too little processor time',
      requests({ cpu: '501m' }),
      [requests({ cpu: '1500m' })],
      ['OutOfcpu', "Node didn't have enough resource: cpu, requested: 501, used: 1500, capacity: 2000"],
    ],
    [
      'too little memory',
      requests({ memory: '2Gi' }),
      [],
      ['OutOfmemory', "Node didn't have enough resource: memory, requested: 2147483648, used: 0, capacity: 1073741824"],
    ],
    ['too little disk', requests({ 'ephemeral-storage': '11Gi' }), [], ['OutOfephemeral-storage', expect.any(String)]],
    [
      'too many pods',
      requests({}),
      [requests({}), requests({}), requests({})],
      ['OutOfpods', "Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3"],
    ],
    ['a class of devices that it has by a claim', withClaim('deviceclass.resource.kubernetes.io/gpu'), [], undefined],
    [
      'a class of devices without a claim',
      requests({ 'deviceclass.resource.kubernetes.io/gpu': '1' }),
      [],
      ['OutOfdeviceclass.resource.kubernetes.io/gpu', expect.any(String)],
    ],
    [
      'a resource that others have by claims',
      requests({ cpu: '2', 'example.com/gpu': '1' }),
      [withClaim('example.com/gpu')],
      undefined,
    ],
    ['a resource that the node does not know', requests({ 'example.com/other': '1' }), [], undefined],
    [
      "a resource of Kubernetes' own that the node has not",
      requests({ 'kubernetes.io/x': '1' }),
      [],
      ['OutOfkubernetes.io/x', expect.any(String)],
    ],
    ['huge pages that the node has not', requests({ 'hugepages-2Mi': '2Mi' }), [], ['OutOfhugepages-2Mi', expect.any(String)]],
    ['a critical pod that lesser ones make room for', critical('2'), [requests({ cpu: '2' })], undefined],
    [
      'a critical pod that is too large for the node',
      critical('9'),
      [requests({ cpu: '2' })],
      ['UnexpectedAdmissionError', expect.stringMatching(/no set of running pods found .*: \[\(res: cpu, q: 7000\), \]$/)],
    ],
    [
      'a selector that does not match',
      pod({ nodeSelector: { disk: 'hdd' } }),
      [],
      ['NodeAffinity', "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"],
    ],
    ['a selector that matches', pod({ nodeSelector: { disk: 'ssd' } }), [], undefined],
    [
      'another node',
      pod({ nodeName: 'node-2' }),
      [],
      ['NodeName', expect.stringContaining("didn't match the requested node name")],
    ],
    ['a port that is taken', port(80), [port(80, '127.0.0.1')], ['NodePorts', expect.stringContaining('free ports')]],
    ['the same port of another protocol', port(80), [port(80, '', 'UDP')], undefined],
    ['the same port of another address', port(80, '10.0.0.1'), [port(80, '10.0.0.2')], undefined],
  ] as const)('%s', (_, given, others, refusal) => {
    const found = schedulerPredicates(context(given, { others: [...others] }));
    expect(found && [found.reason, found.message]).toEqual(refusal);
  });

  it.each([
    ['In', ['ssd', 'nvme'], 'disk', true],
    ['NotIn', ['ssd'], 'disk', false],
    ['NotIn', ['ssd'], 'absent', true],
    ['Exists', undefined, 'disk', true],
    ['DoesNotExist', undefined, 'disk', false],
    ['Gt', ['6'], 'rank', true],
    ['Lt', ['7'], 'rank', false],
    ['Gt', ['6'], 'disk', false],
    ['Near', ['6'], 'rank', false],
  ])('an affinity %s %j of the label %s: %s', (operator, values, key, matches) => {
    const nodeSelectorTerms = [{}, { matchExpressions: [{ key, operator, ...(values && { values }) }] }];
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
    expect(schedulerPredicates(context(pod({ affinity: { nodeAffinity } }))) === undefined).toBe(matches);
  });

  it.each([
    [undefined, {}, 'TaintToleration'],
    [{ key: 'gone', operator: 'Exists' }, {}, undefined],
    [{ key: 'gone', value: 'soon' }, {}, undefined],
    [{ key: 'gone', value: 'later' }, {}, 'TaintToleration'],
    [{ operator: 'Exists', effect: 'NoSchedule' }, {}, 'TaintToleration'],
    [undefined, { annotations: { 'kubernetes.io/config.source': 'file' } }, undefined],
  ])('a taint that ends pods, with the toleration %j: %s', (toleration, metadata, reason) => {
    const tainted = { ...node, spec: { taints: [{ key: 'gone', value: 'soon', effect: 'NoExecute' }] } };
    const given = pod(toleration === undefined ? {} : { tolerations: [toleration] }, metadata);
    expect(schedulerPredicates(context(given, { node: tainted }))?.reason).toBe(reason);
  });
});

describe('what the node is', () => {
  it.each([
    [pod({}), undefined],
    [pod({ os: { name: 'linux' } }), undefined],
    [pod({ os: { name: 'windows' } }), 'PodOSNotSupported'],
    [pod({}, { labels: { 'kubernetes.io/os': 'windows' } }), 'PodOSSelectorNodeLabelDoesNotMatch'],
    [pod({ securityContext: { supplementalGroupsPolicy: 'Strict' } }), 'SupplementalGroupsPolicyNotSupported'],
  ])('refuses what it cannot run (%#)', (given, reason) => {
    expect(nodeKind(context(given))?.reason).toBe(reason);
  });

  it('allows strict supplemental groups where the runtime knows them', () => {
    const able = { ...node, status: { ...node.status, features: { supplementalGroupsPolicy: true } } };
    const given = pod({ securityContext: { supplementalGroupsPolicy: 'Strict' } });
    expect(nodeKind(context(given, { node: able }))).toBeUndefined();
  });
});

describe('sysctls', () => {
  const check = allowedSysctls(['kernel.msg*', 'net.core.somaxconn'], '6.1.0');
  it.each([
    ['kernel.shm_rmid_forced', {}, undefined],
    ['net.ipv4.tcp_rmem', {}, undefined],
    ['kernel.msgmax', {}, undefined],
    ['net/core/somaxconn', {}, undefined],
    ['fs.mount-max', {}, 'forbidden sysctl: "fs.mount-max" not allowlisted'],
    ['kernel.shm_rmid_forced', { hostIPC: true }, 'forbidden sysctl: "kernel.shm_rmid_forced" not allowed with host IPC enabled'],
    ['net.ipv4.tcp_rmem', { hostNetwork: true }, 'forbidden sysctl: "net.ipv4.tcp_rmem" not allowed with host Net enabled'],
  ])('%s of a pod %j: %s', (name, spec, message) => {
    const found = check(context(pod({ ...spec, securityContext: { sysctls: [{ name, value: '1' }] } })));
    expect(found?.message).toBe(message);
    if (found !== undefined) expect(found.reason).toBe('SysctlForbidden');
  });

  it('that an older kernel has for all are not safe', () => {
    const given = context(pod({ securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '1' }] } }));
    expect(allowedSysctls([], '4.14.2')(given)?.reason).toBe('SysctlForbidden');
  });

  it.each([['vm.swappiness'], ['net core'], ['*']])('are refused as patterns: %s', (given) => {
    expect(() => requireSysctlPatterns('allowedUnsafeSysctls', [given])).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    );
  });
});

describe('AppArmor', () => {
  const wants = (type: string, localhostProfile?: string): Pod =>
    pod({ securityContext: { appArmorProfile: { type, ...(localhostProfile !== undefined && { localhostProfile }) } } });
  it.each([
    [pod({}), false, undefined],
    [wants('Unconfined'), false, undefined],
    [wants('RuntimeDefault'), true, undefined],
    [wants('RuntimeDefault'), false, 'Cannot enforce AppArmor: AppArmor is not enabled on the host'],
    [wants('Localhost', ' '), true, 'Cannot enforce AppArmor: invalid empty AppArmor profile name'],
    [
      pod({}, { annotations: { 'container.apparmor.security.beta.kubernetes.io/app': 'runtime/default' } }),
      false,
      'Cannot enforce AppArmor: AppArmor is not enabled on the host',
    ],
    [{ ...wants('RuntimeDefault'), status: { phase: 'Running' } }, false, undefined],
  ])('is asked of the machine (%#)', (given, isEnabled, message) => {
    expect(appArmorSupport(() => isEnabled)(context(given))?.message).toBe(message);
  });
});

describe('a node that runs short', () => {
  it.each([
    ['nothing', {}, pod({}), undefined],
    ['memory', { memory: true }, pod({}), 'The node had condition: [MemoryPressure]. '],
    ['memory', { memory: true }, requests({ cpu: '1m' }), undefined],
    ['disk', { disk: true }, requests({ cpu: '1m' }), 'The node had condition: [DiskPressure]. '],
    ['memory and processes', { memory: true, pid: true }, requests({ cpu: '1m' }), expect.stringContaining('PIDPressure')],
    ['disk', { disk: true }, pod({ priority: 2_000_000_000 }), undefined],
  ])('of %s (%j)', (_, pressures, given, message) => {
    expect(nodePressure(context(given, { pressures }))?.message).toEqual(message);
  });
});

it('the first check that refuses says why', () => {
  const refuse = (reason: string) => () => ({ reason, message: 'no' });
  expect(admitPod([() => undefined], context(pod({})))).toEqual({ admit: true });
  expect(admitPod([() => undefined, refuse('One'), refuse('Two')], context(pod({})))).toEqual({
    ...{ admit: false, reason: 'One', message: 'no' },
  });
});
