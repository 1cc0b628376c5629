/** Where the containers of a {@link FakeRuntime} write: files of the node, by absolute path. */
export interface RuntimeFiles {
  /** Adds text to the end of a file, which is made where it is not there. Log files are written by it. */
  append(path: string, text: string): void;
  /** Writes a file anew. Termination messages are written by it. */
  write(path: string, text: string): void;
}

/** Lines in the log format of CRI: time, stream, tag, text. */
export function logLines(lines: readonly string[], at: number): string {
  const time = new Date(at).toISOString().replace('Z', '000000Z');
  return lines.map((line) => `${time} stdout F ${line}\n`).join('');
}
