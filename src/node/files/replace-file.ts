import { open, rename, rm } from 'node:fs/promises';

/** Writes a file in one step: whoever reads it meanwhile, or after a crash, finds the old contents or the new ones. One writer at a time. */
export async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  await rename(await writeBeside(path, text, mode), path);
}

/** The first half of that: returns the path of a file with these contents, which lie on the disk. It has the name of the file and `.new`. */
export async function writeBeside(path: string, text: string, mode: number): Promise<string> {
  const beside = nameBeside(path);
  await rm(beside, { force: true });
  const file = await open(beside, 'wx', mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  return beside;
}

export function nameBeside(path: string): string {
  return `${path}.new`;
}
