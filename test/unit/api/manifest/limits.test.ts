import { describe, expect, it } from 'vitest';
import { decodeStaticPods, InvalidManifestError } from '../../../../src/node.ts';

const origin = { source: '/etc/manifests/web.yaml', isFile: true, nodeName: 'node-1' };
const rule = { action: 'Restart', exitCodes: { operator: 'In', values: [1] } };
const many = <T>(count: number, item: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => item(index));
const fileKey = (path: string) => ({ env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path, key: 'K' } } }] });
const volumes = [{ name: 'v', emptyDir: {} }];

function pathOfRefusal({
  container = {},
  spec = {},
  metadata = {},
}: {
  container?: object;
  spec?: object;
  metadata?: object;
}): string {
  const containers = [{ name: 'app', image: 'app:1', ...container }];
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', ...metadata }, spec: { containers, ...spec } };
  try {
    decodeStaticPods(JSON.stringify(pod), origin);
    return 'taken';
  } catch (error) {
    if (error instanceof InvalidManifestError) return error.path;
    throw error;
  }
}

describe('the limits of a static pod', () => {
  it.each([
    ['20 restart rules', { container: { restartPolicy: 'Never', restartPolicyRules: many(20, () => rule) } }],
    ['3 nameservers', { spec: { dnsConfig: { nameservers: many(3, (i) => `10.0.0.${i}`) } } }],
    ['32 search paths', { spec: { dnsConfig: { searches: many(32, (i) => `s${i}`) } } }],
    ['250 KiB of annotations', { metadata: { annotations: { a: 'x'.repeat(250 * 1024) } } }],
    ['a file of an empty directory', { container: fileKey('a/b'), spec: { volumes } }],
    ['a host name of 64 characters', { spec: { hostnameOverride: 'a'.repeat(64) } }],
  ])('take %s', (_what, pod) => {
    expect(pathOfRefusal(pod)).toBe('taken');
  });

  it.each([
    [
      'spec.containers[0].restartPolicyRules',
      { container: { restartPolicy: 'Never', restartPolicyRules: many(21, () => rule) } },
    ],
    [
      'spec.containers[0].restartPolicyRules[0].exitCodes.values',
      {
        container: {
          restartPolicy: 'Never',
          restartPolicyRules: [{ ...rule, exitCodes: { operator: 'In', values: many(256, (i) => i) } }],
        },
      },
    ],
    ['spec.dnsConfig.nameservers', { spec: { dnsConfig: { nameservers: many(4, (i) => `10.0.0.${i}`) } } }],
    ['spec.dnsConfig.searches', { spec: { dnsConfig: { searches: many(33, (i) => `s${i}`) } } }],
    [
      'spec.dnsConfig.searches',
      { spec: { dnsConfig: { searches: many(30, (i) => `${'a'.repeat(60)}.${'b'.repeat(60)}.s${i}`) } } },
    ],
    ['metadata.annotations', { metadata: { annotations: { a: 'x'.repeat(257 * 1024) } } }],
    ['spec.containers[0].env[0].valueFrom.fileKeyRef.path', { container: fileKey(''), spec: { volumes } }],
    ['spec.containers[0].env[0].valueFrom.fileKeyRef.path', { container: fileKey('a/../../b'), spec: { volumes } }],
    ['spec.hostnameOverride', { spec: { hostnameOverride: 'a'.repeat(65) } }],
    ['spec.ephemeralContainers', { spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] } }],
  ])('refuse at %s what goes beyond', (path, pod) => {
    expect(pathOfRefusal(pod)).toBe(path);
  });
});
