import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The oldest browsers with `light-dark()`, which the style sheet needs. */
const target = ['chrome123', 'firefox120', 'safari17.5'];
/** The packages of which the page contains code. */
const bundled = ['preact', 'uplot'] as const;

/** The page as HTML: one document with its style and its script inside. */
export async function buildHtml(): Promise<string> {
  const [template, script, style, ...licences] = await Promise.all([
    readFile(file('index.html'), 'utf8'),
    bundle('src/main.tsx'),
    bundle('style/page.css'),
    ...bundled.map(licenceOf),
  ]);
  const parts: Readonly<Record<string, string>> = { STYLE: style, SCRIPT: script, LICENCES: licences.join('\n') };
  return template.replaceAll(/\/\*(\w+)\*\//g, (_, name: string) => parts[name] ?? '');
}

/** The file of src that holds the page, and the policy under which a browser may run nothing else. */
export async function buildPage(): Promise<string> {
  const html = await buildHtml();
  return [
    '// Made by `npm run build:page` from the folder `tools/page`. Do not edit.',
    '',
    '/** The page as HTML. It asks for nothing but `api/...` beside its own address. */',
    `export const page =\n  ${JSON.stringify(html)};`,
    '',
    '/** The Content-Security-Policy that lets the page run, and nothing that somebody could put into it. */',
    `export const pagePolicy =\n  ${JSON.stringify(policyOf(html))};`,
    '',
  ].join('\n');
}

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [file(entry)],
    bundle: true,
    minify: true,
    write: false,
    charset: 'utf8',
    format: 'esm',
    legalComments: 'none',
    target,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfig: file('tsconfig.json'),
  });
  return (outputFiles[0]?.text ?? '').trim();
}

async function licenceOf(name: string): Promise<string> {
  return `${name}\n\n${(await readFile(file(`../../node_modules/${name}/LICENSE`), 'utf8')).trim()}\n`;
}

/** Style and script by their digests: no other can run, wherever it comes from. */
function policyOf(html: string): string {
  const style = digestOf(html, /<style>([\s\S]*?)<\/style>/);
  const script = digestOf(html, /<script type="module">([\s\S]*?)<\/script>/);
  return [
    "default-src 'none'",
    `script-src ${script}`,
    `style-src ${style}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}

function digestOf(html: string, element: RegExp): string {
  const text = element.exec(html)?.[1];
  if (!text) throw new Error(`The page has no ${element.source}`);
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
