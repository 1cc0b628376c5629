// npm run build:cri
// Makes messages and services from their proto files: those of CRI v1, and those that plugins speak. What it writes is committed:
// who uses the library builds nothing. The first line of each result names the digest of its proto file, which a test compares.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('./', import.meta.url));
const kubelet = fileURLToPath(new URL('../../src/kubelet/', import.meta.url));
const targets = { cri: join(kubelet, 'cri/proto'), plugins: join(kubelet, 'plugins/proto') };

const PATH = [`${folder}node_modules/.bin`, process.env.PATH].join(delimiter);
for (const [source, target] of Object.entries(targets)) {
  const args = ['generate', source, '--output', target];
  execFileSync('buf', args, { cwd: folder, env: { ...process.env, PATH }, stdio: 'inherit' });
  for (const name of readdirSync(join(folder, source))) {
    const digest = createHash('sha256')
      .update(readFileSync(join(folder, source, name)))
      .digest('hex');
    const made = join(target, name.replace(/\.proto$/, '_pb.ts'));
    const head = `// Made by \`npm run build:cri\` from tools/proto/${source}/${name}, sha256 ${digest}.`;
    writeFileSync(made, `${head}\n${readFileSync(made, 'utf8')}`);
  }
}
