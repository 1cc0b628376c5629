// npm run build:page
// Bundles the page of the debug handler into one file of src, which is committed: who uses the library builds nothing.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { buildPage } from './bundle.ts';

const target = fileURLToPath(new URL('../../src/observe/debug/page/page.ts', import.meta.url));
const source = await buildPage();
await writeFile(target, source);
process.stdout.write(`${target}: ${source.length} bytes\n`);
