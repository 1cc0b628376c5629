/** One line of `/proc/self/mountinfo`. */
export interface MountPoint {
  /** The absolute path. */
  readonly path: string;
  /** The type of the file system, such as `tmpfs`. */
  readonly type: string;
}

/** The mount points that the text of `/proc/self/mountinfo` lists, in its order. A line that cannot be read is an error. */
export function parseMountInfo(text: string): readonly MountPoint[] {
  const points: MountPoint[] = [];
  for (const line of text.split('\n')) {
    if (line !== '') points.push(mountPointOf(line));
  }
  return points;
}

function mountPointOf(line: string): MountPoint {
  const fields = line.split(' ');
  const path = fields[4];
  // a varying number of optional fields ends with a hyphen
  const end = fields.indexOf('-', 6);
  const type = end < 0 ? undefined : fields[end + 1];
  if (path === undefined || type === undefined || !path.startsWith('/')) throw new Error('a line of mountinfo cannot be read');
  return { path: unescaped(path), type: unescaped(type) };
}

/** The kernel writes blanks, line ends and backslashes as three octal digits. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** The mount points at and below `folder`, the deepest first, and of one path the topmost first. */
export function pointsBelow(points: readonly MountPoint[], folder: string): readonly string[] {
  const prefix = folder === '/' ? '/' : `${folder}/`;
  const paths = points.map(({ path }) => path).filter((path) => path === folder || path.startsWith(prefix));
  const depth = (path: string): number => path.split('/').length;
  return paths.reverse().sort((a, b) => depth(b) - depth(a));
}
