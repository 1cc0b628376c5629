import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import {
  buildPodFullName,
  configHashAnnotationKey,
  configMirrorAnnotationKey,
  configSourceAnnotationKey,
  isMirrorPod,
  isMirrorPodOf,
  isStaticPod,
  parsePodFullName,
  podFullName,
} from '../../../../src/api/pod/pod-identity.ts';
import { isStatusManagerError } from '../../../../src/base/errors.ts';

function pod(annotations?: Record<string, string>, name = 'a', namespace = 'd'): Pod {
  return { metadata: { name, namespace, ...(annotations && { annotations }) } };
}

describe('isStaticPod', () => {
  it.each([
    ['file', true],
    ['http', true],
    ['', true],
    ['api', false],
  ])('answers for source %j: %s', (source, expected) => {
    expect(isStaticPod(pod({ [configSourceAnnotationKey]: source }))).toBe(expected);
  });

  it('is false for a pod that does not say where it came from', () => {
    expect(isStaticPod(pod())).toBe(false);
    expect(isStaticPod(pod({}))).toBe(false);
    expect(isStaticPod({})).toBe(false);
  });
});

describe('isMirrorPod', () => {
  it('needs the annotation, not a value', () => {
    expect(isMirrorPod(pod({ [configMirrorAnnotationKey]: '' }))).toBe(true);
    expect(isMirrorPod(pod({ [configHashAnnotationKey]: 'x' }))).toBe(false);
    expect(isMirrorPod({})).toBe(false);
  });
});

describe('isMirrorPodOf', () => {
  const mirror = pod({ [configMirrorAnnotationKey]: 'h' });

  it('compares name, namespace and hash', () => {
    expect(isMirrorPodOf(mirror, pod({ [configHashAnnotationKey]: 'h' }))).toBe(true);
    expect(isMirrorPodOf(mirror, pod({ [configHashAnnotationKey]: 'other' }))).toBe(false);
    expect(isMirrorPodOf(mirror, pod({ [configHashAnnotationKey]: 'h' }, 'b'))).toBe(false);
    expect(isMirrorPodOf(mirror, pod({ [configHashAnnotationKey]: 'h' }, 'a', 'e'))).toBe(false);
  });

  it('takes a pod without a hash for one with an empty hash', () => {
    expect(isMirrorPodOf(pod({ [configMirrorAnnotationKey]: '' }), pod())).toBe(true);
    expect(isMirrorPodOf(mirror, pod())).toBe(false);
  });

  it('is false when the first pod is no mirror pod', () => {
    expect(isMirrorPodOf(pod(), pod())).toBe(false);
  });
});

describe('pod full names', () => {
  it('puts the name before the namespace', () => {
    expect(podFullName(pod({}, 'bar', 'foo'))).toBe('bar_foo');
    expect(buildPodFullName('bar', 'foo')).toBe('bar_foo');
  });

  it.each([
    ['T-MC-01', 'bar_foo', 'bar', 'foo'],
    ['T-MC-02', 'bar.org_foo.com', 'bar.org', 'foo.com'],
    ['T-MC-03', 'bar-bar_foo', 'bar-bar', 'foo'],
  ])('parses a full name [%s]', (_id, fullName, name, namespace) => {
    expect(parsePodFullName(fullName)).toEqual({ name, namespace });
  });

  it.each([
    ['T-MC-04', 'barfoo'],
    ['T-MC-05', 'bar_foo_foo'],
    ['T-MC-06', ''],
    ['T-MC-07', 'bar_'],
    ['T-MC-08', '_foo'],
  ])('refuses what is not two non-empty parts [%s]', (_id, fullName) => {
    expect(() => parsePodFullName(fullName)).toThrow(
      expect.toSatisfy((error: unknown) => isStatusManagerError(error, 'ERR_INVALID_ARGUMENT')),
    );
  });
});
