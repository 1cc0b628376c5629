// npm run build:cri
// Makes the messages and services of CRI v1 from their proto file. What it writes is committed: who uses the library builds
// nothing. The first line of the result names the digest of the proto file, which a test compares.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('./', import.meta.url));
const target = fileURLToPath(new URL('../../src/kubelet/cri/proto/api_pb.ts', import.meta.url));
const digest = createHash('sha256')
  .update(readFileSync(`${folder}api.proto`))
  .digest('hex');

const PATH = [`${folder}node_modules/.bin`, process.env.PATH].join(delimiter);
execFileSync('buf', ['generate'], { cwd: folder, env: { ...process.env, PATH }, stdio: 'inherit' });
writeFileSync(
  target,
  `// Made by \`npm run build:cri\` from tools/proto/api.proto, sha256 ${digest}.\n${readFileSync(target, 'utf8')}`,
);
