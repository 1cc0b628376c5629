// Makes one file of the example, for an image: node examples/scheduler/build.ts [FILE]. The package must have been built.
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const outfile = process.argv[2] ?? beside('../../.built/scheduler.mjs');
buildSync({
  ...{ entryPoints: [beside('main.ts')], outfile, bundle: true, minify: true },
  ...{ platform: 'node', format: 'esm', target: 'node22.19', logLevel: 'warning' },
  // packages in CommonJS ask for what Node.js itself has
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  // the package as it is built: the paths in tsconfig.json lead to its sources
  tsconfigRaw: {},
});
console.log(outfile);
