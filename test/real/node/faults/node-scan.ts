import { execFile } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A process of a pod. */
export interface PodProcess {
  readonly pid: number;
  readonly podUID: string;
  /** The container's name; undefined: the process of the sandbox. */
  readonly container: string | undefined;
  /** True for the first process of its container. */
  readonly isFirst: boolean;
}

/** With slices of systemd the name of the pod's group is longer, and has `_` for `-`. */
const podPattern = /[/-]pod([0-9a-f]{8}[-_][0-9a-f_-]{27})(?:\.slice)?(?:\/|$)/m;

/** The pod whose cgroup a process is in, by the process's file `cgroup`; undefined for a process of none. */
export function podUIDOf(cgroups: string): string | undefined {
  return podPattern.exec(cgroups)?.[1]?.replaceAll('_', '-');
}

/** Seconds since the machine started. A scene that boots it again adds to them. */
export async function uptime(): Promise<number> {
  return Number((await readFile('/proc/uptime', 'utf8')).split(' ')[0]);
}

/** Every process that is in a pod's cgroup. */
export async function podProcesses(): Promise<PodProcess[]> {
  const found: PodProcess[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const text = async (file: string): Promise<string> => readFile(join('/proc', name, file), 'utf8').catch(() => '');
    const podUID = podUIDOf(await text('cgroup'));
    if (podUID === undefined) continue;
    const command = (await text('cmdline')).split('\0');
    // a process that has ended and was not waited for does nothing any more
    if (command[0] === '') continue;
    const isSandbox = command[0]?.endsWith('/pause') === true;
    const environment = (await text('environ')).split('\0');
    const container = environment.find((line) => line.startsWith('CONTAINER='))?.slice('CONTAINER='.length);
    if (!isSandbox && container === undefined) continue;
    const isFirst = /^NSpid:.*\t1$/m.test(await text('status'));
    found.push({ pid: Number(name), podUID, container: isSandbox ? undefined : container, isFirst });
  }
  return found;
}

/** Ends the words about a container whose processes have ended, and whose task the runtime has not taken away. */
export const keptTask = ', whose task is STOPPED';

/** The containers that the runtime has of a pod, in words. */
async function containersOf(podUID: string): Promise<string[]> {
  const list = async (...words: readonly string[]): Promise<string[]> =>
    (await run('ctr', ['-n', 'k8s.io', ...words])).stdout.split('\n').filter((line) => line !== '');
  const ids = await list('containers', 'ls', '-q', `labels."io.kubernetes.pod.uid"==${podUID}`);
  const tasks = ids.length === 0 ? [] : await list('tasks', 'ls');
  const stopped = new Set(tasks.map((line) => line.split(/\s+/)).flatMap(([id, , state]) => (state === 'STOPPED' ? id : [])));
  return ids.map((id) => `container ${id}${stopped.has(id) ? keptTask : ''}`);
}

/** What the node still has of a pod, in words. */
export async function leftoversOf(podUID: string, rootDirectory: string): Promise<string[]> {
  const containers = await containersOf(podUID);
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').filter((line) => line.includes(podUID));
  const logs = (await readdir('/var/log/pods').catch(() => [])).filter((name) => name.endsWith(podUID));
  const folder = join(rootDirectory, 'pods', podUID);
  const hasFolder = await stat(folder).then(
    () => true,
    () => false,
  );
  return [
    ...containers,
    ...(await cgroupsOf(podUID)).map((path) => `cgroup ${path}`),
    ...mounts.map((line) => `mount ${line.split(' ')[4]}`),
    ...logs.map((name) => `logs ${name}`),
    ...(hasFolder ? [`folder ${folder}`] : []),
  ];
}

async function cgroupsOf(podUID: string): Promise<string[]> {
  const names = ['-name', `pod${podUID}*`, '-o', '-name', `*-pod${podUID.replaceAll('-', '_')}.slice`];
  const { stdout } = await run('find', ['/sys/fs/cgroup', '-type', 'd', '(', ...names, ')']).catch(() => ({ stdout: '' }));
  return stdout.split('\n').filter((path) => path !== '');
}

/** The files below a folder that hold a text. */
export async function filesWith(text: string, folder: string): Promise<string[]> {
  const { stdout } = await run('grep', ['-rlIs', '--', text, folder]).catch(() => ({ stdout: '' }));
  return stdout.split('\n').filter((path) => path !== '');
}
