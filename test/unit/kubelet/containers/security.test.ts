// After pkg/kubelet/kuberuntime/security_context_test.go and helpers_test.go, and pkg/securitycontext, v1.36.3.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import type { Container } from '../../../../src/api/pod/pod-containers.ts';
import {
  containerSecurityContext,
  defaultProcPaths,
  type ImageUser,
  sandboxSecurityContext,
  verifyRunAsNonRoot,
} from '../../../../src/kubelet/containers/security-context.ts';
import type { BareParts } from '../../../support/pods.ts';
import { shopPod } from './shop-pod.ts';

type PodContext = NonNullable<NonNullable<Pod['spec']>['securityContext']>;
type OwnContext = NonNullable<Container['securityContext']>;

const root: ImageUser = { username: '' };
const settings = {
  seccompProfileRoot: '/profiles',
  seccompDefault: false,
  procPaths: { maskedPaths: ['/masked'], readonlyPaths: ['/readonly'] },
};

const podWith = (securityContext: PodContext, spec: BareParts['spec'] = {}, metadata: BareParts['metadata'] = {}) =>
  shopPod({ securityContext, ...spec }, metadata);
const app = (securityContext?: OwnContext): Container => ({ name: 'app', ...(securityContext && { securityContext }) });
const context = (podContext: PodContext, own?: OwnContext, image = root) =>
  containerSecurityContext(podWith(podContext), app(own), image, settings);

describe('containerSecurityContext', () => {
  it('is that of root with nothing asked for', () => {
    expect(context({})).toEqual({
      privileged: false,
      namespaces: { network: 'pod', pid: 'container', ipc: 'pod' },
      runAsUser: 0,
      readonlyRootfs: false,
      supplementalGroups: [],
      noNewPrivs: false,
      maskedPaths: ['/masked'],
      readonlyPaths: ['/readonly'],
      seccomp: { type: 'Unconfined' },
    });
  });

  it('takes what the container says before what its pod says', () => {
    const pod: PodContext = {
      ...{ runAsUser: 1, runAsGroup: 2, fsGroup: 3, supplementalGroups: [4, 5], supplementalGroupsPolicy: 'Strict' },
      seLinuxOptions: { level: 's0:c1', type: 't' },
    };
    expect(context(pod)).toMatchObject({
      ...{ runAsUser: 1, runAsGroup: 2, supplementalGroups: [3, 4, 5], supplementalGroupsPolicy: 'Strict' },
      selinuxOptions: { level: 's0:c1', type: 't' },
    });
    const own: OwnContext = {
      ...{ runAsUser: 10, runAsGroup: 20, privileged: true, readOnlyRootFilesystem: true, procMount: 'Unmasked' },
      ...{ allowPrivilegeEscalation: false, capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] }, seLinuxOptions: { user: 'u' } },
    };
    expect(context(pod, own)).toMatchObject({
      ...{ runAsUser: 10, runAsGroup: 20, privileged: true, readonlyRootfs: true, noNewPrivs: true },
      ...{ capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] }, selinuxOptions: { user: 'u' } },
      ...{ maskedPaths: [], readonlyPaths: [] },
    });
  });

  it('runs as the user of the image where nobody says another one', () => {
    expect(context({}, {}, { uid: 7, username: '' })).toMatchObject({ runAsUser: 7 });
    const named = context({}, {}, { username: 'nginx' });
    expect(named).toMatchObject({ runAsUsername: 'nginx' });
    expect(named).not.toHaveProperty('runAsUser');
    expect(context({ runAsUser: 9 }, {}, { username: 'nginx' })).toMatchObject({ runAsUser: 9 });
    expect(context({ runAsUser: 9 }, {}, { username: 'nginx' })).not.toHaveProperty('runAsUsername');
  });

  it('refuses a policy that no runtime knows', () => {
    expect(() => context({ supplementalGroupsPolicy: 'Other' })).toThrow('unsupported supplementalGroupsPolicy: Other');
  });

  it.each<[PodContext, OwnContext | undefined, object]>([
    [{}, undefined, { type: 'Unconfined' }],
    [{ seccompProfile: { type: 'RuntimeDefault' } }, undefined, { type: 'RuntimeDefault' }],
    [{ seccompProfile: { type: 'RuntimeDefault' } }, { seccompProfile: { type: 'Unconfined' } }, { type: 'Unconfined' }],
    [
      {},
      { seccompProfile: { type: 'Localhost', localhostProfile: 'a/b.json' } },
      { type: 'Localhost', localhostRef: '/profiles/a/b.json' },
    ],
  ])('seccomp of %j and %j is %j', (pod, own, expected) => {
    expect(context(pod, own).seccomp).toEqual(expected);
  });

  it('gives the profile of the runtime by default where the node says so', () => {
    const of = (own?: OwnContext) =>
      containerSecurityContext(podWith({}), app(own), root, { ...settings, seccompDefault: true }).seccomp;
    expect(of()).toEqual({ type: 'RuntimeDefault' });
    expect(of({ seccompProfile: { type: 'Unconfined' } })).toEqual({ type: 'Unconfined' });
    expect(() => of({ seccompProfile: { type: 'Localhost' } })).toThrow('localhostProfile must be set');
  });

  it('takes AppArmor from the container, an old annotation or the pod, in that order', () => {
    const annotation = (value: string) => ({ annotations: { 'container.apparmor.security.beta.kubernetes.io/app': value } });
    const of = (pod: Pod, own?: OwnContext) => containerSecurityContext(pod, app(own), root, settings).apparmor;
    const podProfile: PodContext = { appArmorProfile: { type: 'RuntimeDefault' } };
    expect(of(podWith({}))).toBeUndefined();
    expect(of(podWith(podProfile))).toEqual({ type: 'RuntimeDefault' });
    expect(of(podWith(podProfile, {}, annotation('unconfined')))).toEqual({ type: 'Unconfined' });
    expect(of(podWith({}, {}, annotation('runtime/default')))).toEqual({ type: 'RuntimeDefault' });
    expect(of(podWith({}, {}, annotation('localhost/mine')))).toEqual({ type: 'Localhost', localhostRef: 'mine' });
    expect(of(podWith({}, {}, annotation('else')))).toBeUndefined();
    const own = { appArmorProfile: { type: 'Localhost', localhostProfile: 'own' } };
    expect(of(podWith(podProfile, {}, annotation('unconfined')), own)).toEqual({ type: 'Localhost', localhostRef: 'own' });
    expect(() => of(podWith({}), { appArmorProfile: { type: 'Localhost' } })).toThrow('missing localhost apparmor profile name');
    expect(() => of(podWith({}), { appArmorProfile: { type: 'Odd' } })).toThrow('unknown apparmor profile type: "Odd"');
  });
});

describe('sandboxSecurityContext', () => {
  it('has the rights of the pod, and may hold a privileged container of any kind', () => {
    const pod = podWith({ runAsUser: 1, runAsGroup: 2, fsGroup: 3, supplementalGroups: [4] }, { shareProcessNamespace: true });
    expect(sandboxSecurityContext(pod)).toEqual({
      namespaces: { network: 'pod', pid: 'pod', ipc: 'pod' },
      ...{ runAsUser: 1, runAsGroup: 2, supplementalGroups: [3, 4], privileged: false },
      seccomp: { type: 'RuntimeDefault' },
    });
    for (const kind of ['containers', 'initContainers', 'ephemeralContainers'] as const) {
      expect(sandboxSecurityContext(podWith({}, { [kind]: [app({ privileged: true })] })).privileged).toBe(true);
    }
  });
});

describe('verifyRunAsNonRoot', () => {
  const verify =
    (own: OwnContext, image: ImageUser, pod: PodContext = {}) =>
    () =>
      verifyRunAsNonRoot(podWith(pod), app(own), image);
  const who = '(pod: "web_shop(u-1)", container: app)';

  it.each<[OwnContext, ImageUser, PodContext?]>([
    [{}, root],
    [{ runAsNonRoot: false }, root, { runAsNonRoot: true }],
    [{ runAsNonRoot: true, runAsUser: 1 }, root],
    [{ runAsNonRoot: true }, { uid: 7, username: '' }],
    [{ runAsNonRoot: true }, root, { runAsUser: 1 }],
  ])('lets %j run from the image %j in the pod %j', (own, image, pod) => {
    expect(verify(own, image, pod)).not.toThrow();
  });

  it.each<[OwnContext, ImageUser, PodContext, string]>([
    [{ runAsNonRoot: true, runAsUser: 0 }, root, {}, `container's runAsUser breaks non-root policy ${who}`],
    [{}, root, { runAsNonRoot: true, runAsUser: 0 }, `container's runAsUser breaks non-root policy ${who}`],
    [{ runAsNonRoot: true }, root, {}, `container has runAsNonRoot and image will run as root ${who}`],
    [{ runAsNonRoot: true }, { uid: 0, username: '' }, {}, `container has runAsNonRoot and image will run as root ${who}`],
    [
      { runAsNonRoot: true },
      { username: 'nginx' },
      {},
      `container has runAsNonRoot and image has non-numeric user (nginx), cannot verify user is non-root ${who}`,
    ],
    [{ runAsNonRoot: true }, { uid: 2 ** 31, username: '' }, {}, 'image has an invalid user id (2147483648)'],
  ])('refuses %j from the image %j in the pod %j', (own, image, pod, message) => {
    expect(verify(own, image, pod)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(message), reason: 'CreateContainerConfigError' }),
    );
  });
});

describe('defaultProcPaths', () => {
  it('hides what tells of the node, and the throttles of processors that have one', async () => {
    const sys = await mkdtemp(join(tmpdir(), 'sys-'));
    await mkdir(join(sys, 'devices/system/cpu/cpu2/thermal_throttle'), { recursive: true });
    await writeFile(join(sys, 'devices/system/cpu/possible'), '0-3,8\n');
    const { maskedPaths, readonlyPaths } = defaultProcPaths(sys);
    await rm(sys, { recursive: true });
    expect(maskedPaths).toHaveLength(13);
    expect(maskedPaths).toContain('/proc/kcore');
    expect(maskedPaths.at(-1)).toBe('/sys/devices/system/cpu/cpu2/thermal_throttle');
    expect(readonlyPaths).toEqual(['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']);
    expect(defaultProcPaths('/nowhere').maskedPaths).toHaveLength(12);
  });
});
