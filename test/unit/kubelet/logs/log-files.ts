import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tempDir } from '../../../support/temp-dir.ts';

/** A line of a log file as containerd writes it; the second is that of 2026-01-01T00:00:00Z and `second` later. */
export function line(second: number, content: string, { stream = 'stdout', tag = 'F' } = {}): string {
  const time = new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString().replace('Z', '000000Z');
  return `${time} ${stream} ${tag} ${content}\n`;
}

/** The path of a new log file with this text. */
export async function logFile(text: string | Buffer): Promise<string> {
  const path = join(await tempDir(), '0.log');
  await writeFile(path, text);
  return path;
}
