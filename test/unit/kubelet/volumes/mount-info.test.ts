import { describe, expect, it } from 'vitest';
import { parseMountInfo, pointsBelow } from '../../../../src/kubelet/volumes/mounter.ts';

const text = [
  '22 1 0:20 / / rw,relatime shared:1 - ext4 /dev/root rw',
  '23 22 0:21 / /var/lib/a\\040b rw shared:2 master:1 propagate_from:3 - tmpfs tmpfs rw,size=4k',
  '24 23 0:22 / /var/lib/a\\040b/c\\134d rw - tmpfs none rw',
  '25 22 0:23 / /var/lib/a\\040bc rw - ext4 /dev/x rw',
  '26 23 0:24 / /var/lib/a\\040b rw - proc proc rw',
  '',
].join('\n');

describe('parseMountInfo', () => {
  it('reads paths with blanks and backslashes, and types behind any number of optional fields', () => {
    expect(parseMountInfo(text).slice(1, 3)).toEqual([
      { path: '/var/lib/a b', type: 'tmpfs', device: '0:21', source: 'tmpfs' },
      { path: '/var/lib/a b/c\\d', type: 'tmpfs', device: '0:22', source: 'none' },
    ]);
  });

  it.each(['1 2 0:1 /', '1 2 0:1 / /x rw shared:1', 'nonsense', '1 2 0:1 / x rw - ext4 y rw'])('refuses %j', (line) => {
    expect(() => parseMountInfo(line)).toThrow('a line of mountinfo cannot be read');
  });
});

describe('pointsBelow', () => {
  it('lists the deepest first, each as often as it is mounted, and no neighbour with a longer name', () => {
    expect(pointsBelow(parseMountInfo(text), '/var/lib/a b')).toEqual(['/var/lib/a b/c\\d', '/var/lib/a b', '/var/lib/a b']);
    expect(pointsBelow(parseMountInfo(text), '/')).toHaveLength(5);
    expect(pointsBelow(parseMountInfo(text), '/nowhere')).toEqual([]);
  });
});
