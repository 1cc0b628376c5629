import { describe, expect, it } from 'vitest';
import { imageText, parseImageName, withDefaultTag } from '../../../../src/kubelet/images/image-name.ts';

const hash = 'a'.repeat(64);

describe('an image name', () => {
  it.each([
    ['busybox', 'docker.io/library/busybox', 'latest', ''],
    ['busybox:1.36', 'docker.io/library/busybox', '1.36', ''],
    ['team/app', 'docker.io/team/app', 'latest', ''],
    ['index.docker.io/busybox', 'docker.io/library/busybox', 'latest', ''],
    ['localhost/app', 'localhost/app', 'latest', ''],
    ['localhost:5000/app:1', 'localhost:5000/app', '1', ''],
    ['quay.io/a/b__c/d-e.f:v1.2_3', 'quay.io/a/b__c/d-e.f', 'v1.2_3', ''],
    ['[fd00::1]:5000/app', '[fd00::1]:5000/app', 'latest', ''],
    ['UPPER/app', 'UPPER/app', 'latest', ''],
    [`app@sha256:${hash}`, 'docker.io/library/app', '', `sha256:${hash}`],
    [`app:1@sha256:${hash}`, 'docker.io/library/app', '1', `sha256:${hash}`],
  ])('%s', (image, repository, tag, digest) => {
    expect(parseImageName(image)).toEqual({ repository, tag, digest });
  });

  it.each([
    ['', 'invalid reference format'],
    ['app:', 'invalid reference format'],
    ['-app', 'invalid reference format'],
    ['a//b', 'invalid reference format'],
    ['app name', 'invalid reference format'],
    ['App', 'invalid reference format: repository name (library/App) must be lowercase'],
    ['quay.io/Team/app', 'invalid reference format: repository name (Team/app) must be lowercase'],
    [hash, `invalid repository name (${hash}), cannot specify 64-byte hexadecimal strings`],
    [`app@sha256:${'a'.repeat(40)}`, 'invalid checksum digest length'],
    [`app@md5:${hash}`, 'unsupported digest algorithm'],
    [`quay.io/${'a'.repeat(300)}`, 'repository name must not be more than 255 characters'],
    [`a${'/a'.repeat(10_000)}`, 'invalid reference format'],
  ])('that is none is refused: %s', (image, why) => {
    expect(() => parseImageName(image)).toThrow(`couldn't parse image name ${imageText(image)}: ${why}`);
  });

  it('gets the tag latest where it has neither tag nor digest', () => {
    expect(['app', 'app:1', `app@sha256:${hash}`, 'localhost:5000/app'].map(withDefaultTag)).toEqual([
      'app:latest',
      'app:1',
      `app@sha256:${hash}`,
      'localhost:5000/app:latest',
    ]);
  });
});
