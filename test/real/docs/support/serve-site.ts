import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { type LocalServer, serveLocally } from '../../../support/serve-locally.ts';
import { siteFolder } from './built-site.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/** Serves the built site on loopback, as any web server would. */
export function serveSite(): Promise<LocalServer> {
  return serveLocally((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname));
    const file = join(siteFolder, path.endsWith('/') ? `${path}index.html` : path);
    readFile(file).then(
      (body) =>
        response
          .writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain', 'cache-control': 'max-age=600' })
          .end(body),
      () => response.writeHead(404).end(),
    );
  });
}
