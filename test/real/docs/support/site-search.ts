import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { root } from '../../../structure/source-tree.ts';
import { siteFolder } from './built-site.ts';

interface Lunr {
  readonly Index: { load(index: unknown): { search(query: string): { readonly ref: string; readonly score: number }[] } };
}
interface Row {
  readonly name: string;
  readonly url: string;
}

/** What the search of the built site answers: the addresses of what it shows, best first. It asks the index as the page's script does. */
export function siteSearch(): (text: string) => string[] {
  const lunr: Lunr = createRequire(join(root, 'tools/site/build.ts'))('lunr');
  const [, packed = ''] = /"(.*)"/.exec(readFileSync(join(siteFolder, 'assets/search.js'), 'utf8')) ?? [];
  const { rows, index }: { rows: Row[]; index: unknown } = JSON.parse(inflateSync(Buffer.from(packed, 'base64')).toString());
  const loaded = lunr.Index.load(index);
  return (text) => {
    const words = text.split(' ').map((word) => `*${word}*`);
    const found = loaded.search(words.join(' ')).map(({ ref, score }) => {
      const { name = '', url = '' } = rows[Number(ref)] ?? {};
      const startsSo = name.toLowerCase().startsWith(text.toLowerCase());
      return { url, score: startsSo ? (score * 10) / (1 + Math.abs(name.length - text.length)) : score };
    });
    return found
      .sort((a, b) => b.score - a.score)
      .slice(0, 10)
      .map(({ url }) => url);
  };
}
