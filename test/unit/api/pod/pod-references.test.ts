import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { podConfigMapNames, podSecretNames } from '../../../../src/api/pod/pod-references.ts';
import { barePod } from '../../../support/pods.ts';

const pod = (spec: object) => barePod({ metadata: { name: 'p', namespace: 'd' }, spec });
const volume = (source: object) => pod({ containers: [], volumes: [{ name: 'v', ...source }] });
const sorts = ['containers', 'initContainers', 'ephemeralContainers'];
const container = (sort: string, members: object) => pod({ containers: [], [sort]: [{ name: 'c', ...members }] });
type Place = readonly [where: string, subject: Pod];
const places = (name: string, make: (sort: string) => Pod): Place[] => sorts.map((sort) => [`${name} of ${sort}`, make(sort)]);
const env = (valueFrom: object) => ({
  env: [
    { name: 'PLAIN', value: 'x' },
    { name: 'E', valueFrom },
  ],
});
const envFrom = (source: object) => ({ envFrom: [{ prefix: 'P_' }, source] });

describe('podSecretNames', () => {
  it.each<Place>([
    ['imagePullSecrets', pod({ containers: [], imagePullSecrets: [{ name: 's' }] })],
    ...places('env', (sort) => container(sort, env({ secretKeyRef: { name: 's', key: 'k' } }))),
    ...places('envFrom', (sort) => container(sort, envFrom({ secretRef: { name: 's' } }))),
    ['a secret volume', volume({ secret: { secretName: 's' } })],
    ['a projected volume', volume({ projected: { sources: [{ downwardAPI: {} }, { secret: { name: 's' } }] } })],
    ['azureFile', volume({ azureFile: { secretName: 's', shareName: 'x' } })],
    ['cephfs', volume({ cephfs: { monitors: [], secretRef: { name: 's' } } })],
    ['cinder', volume({ cinder: { volumeID: 'x', secretRef: { name: 's' } } })],
    ['csi', volume({ csi: { driver: 'x', nodePublishSecretRef: { name: 's' } } })],
    ['flexVolume', volume({ flexVolume: { driver: 'x', secretRef: { name: 's' } } })],
    ['iscsi', volume({ iscsi: { secretRef: { name: 's' } } })],
    ['rbd', volume({ rbd: { monitors: [], secretRef: { name: 's' } } })],
    ['scaleIO', volume({ scaleIO: { secretRef: { name: 's' } } })],
    ['storageos', volume({ storageos: { secretRef: { name: 's' } } })],
  ])('finds the name in %s', (_, subject) => {
    expect([...podSecretNames(subject)]).toEqual(['s']);
    expect([...podConfigMapNames(subject)]).toEqual([]);
  });
});

describe('podConfigMapNames', () => {
  it.each<Place>([
    ...places('env', (sort) => container(sort, env({ configMapKeyRef: { name: 'm', key: 'k' } }))),
    ...places('envFrom', (sort) => container(sort, envFrom({ configMapRef: { name: 'm' } }))),
    ['a configMap volume', volume({ configMap: { name: 'm' } })],
    ['a projected volume', volume({ projected: { sources: [{ configMap: { name: 'm' } }] } })],
  ])('finds the name in %s', (_, subject) => {
    expect([...podConfigMapNames(subject)]).toEqual(['m']);
    expect([...podSecretNames(subject)]).toEqual([]);
  });
});

describe('the names of a pod', () => {
  it('are each there once, and an empty one is none', () => {
    const subject = pod({ containers: [], imagePullSecrets: [{ name: 's' }, { name: '' }, { name: 's' }, {}] });
    expect([...podSecretNames(subject)]).toEqual(['s']);
  });

  it.each([
    [undefined],
    [null],
    [{}],
    [{ containers: null, volumes: null, imagePullSecrets: null }],
    [{ containers: [null, {}, { env: null, envFrom: [null] }], volumes: [null, { secret: null }, { projected: {} }] }],
    [{ containers: 'c', volumes: {}, imagePullSecrets: [{ name: 7 }] }],
  ])('are none where a pod is not as it should be: %j', (spec) => {
    const subject = { metadata: {}, spec } as unknown as Pod;
    expect(podSecretNames(subject).size + podConfigMapNames(subject).size).toBe(0);
  });
});
