import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

/** One call of an upstream function: what went in, and what came out. */
export interface RecordedCall<In, Out> {
  readonly fn: string;
  readonly in: In;
  readonly out: Out;
}

const recorded = fileURLToPath(new URL('tables-public.jsonl.gz', import.meta.url));

/** The recorded calls of one function, from `CONFORMANCE_TABLES` (a .jsonl or .jsonl.gz file) or the file in this folder. */
export function recordedCalls<In, Out>(fn: string, file = process.env.CONFORMANCE_TABLES || recorded): RecordedCall<In, Out>[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line): RecordedCall<In, Out> => JSON.parse(line)).filter((call) => call.fn === fn);
}
