import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
/** Packages in CommonJS ask for what Node.js itself has. */
const withRequire = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

/**
 * Makes one JavaScript file of the program and all that it imports, and returns its path. It takes less memory than the program in
 * TypeScript, and a machine needs nothing else but Node.js. The package must have been built.
 */
export function bundleKubelet(outfile = beside('../../.built/kubelet.mjs')): string {
  buildSync({
    ...{ entryPoints: [beside('main.ts')], outfile, bundle: true, minify: true },
    ...{ platform: 'node', format: 'esm', target: 'node22.19', banner: { js: withRequire }, logLevel: 'warning' },
    // the package as it is built: the paths in tsconfig.json lead to its sources
    tsconfigRaw: {},
  });
  return outfile;
}
