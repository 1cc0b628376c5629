import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** How many sockets this process has, those that listen included, and how many files and watched folders. */
export function heldThings(): { readonly sockets: number; readonly files: number } {
  const sockets = process.getActiveResourcesInfo().filter((name) => /TCP|TLS/.test(name)).length;
  return { sockets, files: heldFiles() };
}

/** Zero where the system does not tell. */
function heldFiles(): number {
  if (process.platform !== 'linux') return 0;
  return readdirSync('/proc/self/fd').reduce((count, fd) => count + heldBy(fd), 0);
}

function heldBy(fd: string): number {
  try {
    const target = readlinkSync(`/proc/self/fd/${fd}`);
    if (target === 'anon_inode:inotify') return readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').match(/^inotify /gm)?.length ?? 0;
    return target.startsWith('/') && !target.startsWith('/dev/') && !target.startsWith('/proc/') ? 1 : 0;
  } catch {
    // it was closed meanwhile, as the folder that was just listed
    return 0;
  }
}
