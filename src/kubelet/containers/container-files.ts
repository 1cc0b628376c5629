// Behaviour of pkg/kubelet/kubelet_pods.go ensureHostsFile and kuberuntime makeMounts (termination log), v1.36.3.
import { chmod, lstat, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { podFolder } from '../volumes/pod-folder.ts';

/** Writes the file that the pod's containers see as `/etc/hosts`, and resolves with its path. A file that says the same stays. */
export async function writeHostsFile(rootDirectory: string, podUID: string, content: string): Promise<string> {
  const path = join(podFolder(rootDirectory, podUID), 'etc-hosts');
  if (await hasContent(path, content)) return path;
  await mkdir(dirname(path), { recursive: true, mode: 0o750 });
  // in place: containers that run have this file mounted
  await writeFile(path, content, { mode: 0o644 });
  await chmod(path, 0o644);
  return path;
}

/** Never reads more than what is expected: a container can have made the file as large as the disk. */
async function hasContent(path: string, content: string): Promise<boolean> {
  try {
    const stats = await lstat(path);
    return stats.isFile() && stats.size === Buffer.byteLength(content) && (await readFile(path, 'utf8')) === content;
  } catch {
    return false;
  }
}

/** Makes an empty file that a container can write why it ends into, and resolves with its path. */
export async function makeTerminationLog(
  rootDirectory: string,
  podUID: string,
  containerName: string,
  fileName: string,
): Promise<string> {
  const folder = join(podFolder(rootDirectory, podUID), 'containers', containerName);
  await mkdir(folder, { recursive: true, mode: 0o750 });
  const path = join(folder, fileName);
  await writeFile(path, '', { flag: 'wx', mode: 0o666 });
  // whatever the process's umask is
  await chmod(path, 0o666);
  return path;
}
