import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Pod, WirePod } from '../../../../src/api/json/types.ts';
import { StatusManagerError } from '../../../../src/base/errors.ts';
import { VolumeError, VolumeManager, type VolumeManagerOptions } from '../../../../src/kubelet.ts';
import { FakeMounter } from '../../../../src/testing/fakes/fake-mounter.ts';
import { type BareParts, barePod } from '../../../support/pods.ts';
import { tempDir } from '../../../support/temp-dir.ts';

type Spec = NonNullable<Pod['spec']>;
type Volumes = NonNullable<Spec['volumes']>;

export const never = new AbortController().signal;

/** A pod whose one container uses all its volumes. */
export function podWith(volumes: Volumes, spec: Partial<Spec> = {}, metadata: BareParts['metadata'] = {}): WirePod {
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/mnt/${name}` }));
  const containers = [{ name: 'app', image: 'app:1', volumeMounts, resources: { limits: { memory: '64Mi' } } }];
  return barePod({
    metadata: { name: 'web', namespace: 'shop', uid: 'u1', labels: { app: 'web' }, ...metadata },
    spec: { serviceAccountName: 'robot', containers, volumes, ...spec },
  });
}

/** A volume manager without the rights of root, and what it reads. */
export async function setUp(options: Partial<VolumeManagerOptions> = {}) {
  const rootDirectory = join(await tempDir(), 'root');
  await mkdir(rootDirectory);
  const mounter = new FakeMounter();
  const configMaps = new Map<string, Record<string, string>>();
  const secrets = new Map<string, Record<string, string>>();
  const tokens = { asked: [] as unknown[], deleted: [] as string[], next: 'token-1' };
  const notFound = (): never => {
    throw new StatusManagerError('ERR_NOT_FOUND', 'not found');
  };
  const base64 = (data: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
  const all: VolumeManagerOptions = {
    ...{ rootDirectory, mounter },
    configMaps: {
      getConfigMap: async (namespace, name) => ({
        data: configMaps.get(`${namespace}/${name}`) ?? notFound(),
        binaryData: { bin: '/w==' },
      }),
    },
    secrets: { getSecret: async (namespace, name) => ({ data: base64(secrets.get(`${namespace}/${name}`) ?? notFound()) }) },
    tokens: {
      async getToken(_pod, request) {
        tokens.asked.push(request);
        return { token: tokens.next, expiresAt: 0 };
      },
      deletePod: (podUID) => void tokens.deleted.push(podUID),
    },
    nodeAllocatable: () => ({ cpu: '4', memory: '1Gi' }),
    ...options,
  };
  const podFolder = join(rootDirectory, 'pods', 'u1');
  const folderOf = (type: string, name: string): string => join(podFolder, 'volumes', `kubernetes.io~${type}`, name);
  return {
    rootDirectory,
    mounter,
    configMaps,
    secrets,
    tokens,
    podFolder,
    folderOf,
    options: all,
    manager: new VolumeManager(all),
  };
}

export const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o7777).toString(8);

export async function failureOf(mounting: Promise<unknown>): Promise<string> {
  const error = await mounting.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof VolumeError)) throw new Error(`expected a VolumeError, got ${String(error)}`);
  expect(error.code).toBe('ERR_VOLUME');
  return error.failures.map(({ volume, reason, message }) => `${volume} ${reason} ${message}`).join('\n');
}
