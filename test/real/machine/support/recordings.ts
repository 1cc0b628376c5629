import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { CgroupDriver } from './machine-node.ts';
import type { PodGroups } from './pod-groups.ts';

const moments = ['running', 'resized', 'gone'] as const;

/** The file of what the kubelet v1.36.3 leaves with this driver. */
export function recordingFile(driver: CgroupDriver): string {
  return fileURLToPath(new URL(`../recorded/${driver}.txt`, import.meta.url));
}

export function recordingText(groups: PodGroups): string {
  return moments.map((moment) => `# ${moment}\n${groups[moment].map((line) => `${line}\n`).join('')}`).join('');
}

export async function recordedGroups(driver: CgroupDriver): Promise<PodGroups> {
  const groups = { running: [] as string[], resized: [] as string[], gone: [] as string[] };
  let moment: (typeof moments)[number] = 'running';
  for (const line of (await readFile(recordingFile(driver), 'utf8')).trimEnd().split('\n')) {
    const title = moments.find((name) => line === `# ${name}`);
    if (title !== undefined) moment = title;
    else groups[moment].push(line);
  }
  return groups;
}
