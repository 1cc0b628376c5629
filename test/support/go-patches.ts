import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JsonObject } from '../../src/api/json/types.ts';
import { goTool } from './go-tools.ts';
import { tempDir } from './temp-dir.ts';

export interface PatchInput {
  readonly uid: string;
  readonly old: JsonObject;
  readonly new: JsonObject;
}

/** The patches that Kubernetes' Go library makes for these statuses, in order. Only for a test, whose end removes the files. */
export async function goPatches(inputs: readonly PatchInput[]): Promise<JsonObject[]> {
  const oracle = await goTool('oracle');
  const dir = await tempDir();
  const [input, output] = [join(dir, 'in.jsonl'), join(dir, 'out.jsonl')];
  await writeFile(input, inputs.map((one) => `${JSON.stringify({ fn: 'createPodStatusPatch', in: one })}\n`).join(''));
  const env = { ...process.env, TABLES_IN: input, TABLES_OUT: output };
  await promisify(execFile)(oracle, ['-test.run', '^TestTables$'], { env, cwd: dir });
  const lines = (await readFile(output, 'utf8')).trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as { out: JsonObject }).out);
}
