// Serves an OCI layout read-only over the registry protocol, for pulls with policy Always.
//   node registry.mjs LAYOUT_DIR PORT
// containerd asks it as a mirror and names the registry it stands for in ?ns=.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const [layout, port] = process.argv.slice(2);
const byName = new Map(
  JSON.parse(fs.readFileSync(path.join(layout, 'index.json'), 'utf8')).manifests.map((m) => [
    m.annotations['io.containerd.image.name'],
    m,
  ]),
);

http
  .createServer((req, res) => {
    const url = new URL(req.url, 'http://localhost');
    const m = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(url.pathname);
    const end = (code, headers = {}, file) => {
      res.writeHead(code, headers);
      if (file && req.method === 'GET') fs.createReadStream(file).pipe(res);
      else res.end();
    };
    if (url.pathname === '/v2/') return end(200);
    if (!m || !['GET', 'HEAD'].includes(req.method)) return end(404);
    const [, repo, kind, ref] = m;
    const known = kind === 'manifests' ? byName.get(`${url.searchParams.get('ns')}/${repo}:${ref}`) : undefined;
    const digest = known?.digest ?? ref;
    if (!/^sha256:[0-9a-f]{64}$/.test(digest)) return end(404);
    const file = path.join(layout, 'blobs/sha256', digest.slice(7));
    if (!fs.existsSync(file)) return end(404);
    end(
      200,
      {
        'Content-Type': kind === 'manifests' ? 'application/vnd.oci.image.manifest.v1+json' : 'application/octet-stream',
        'Content-Length': fs.statSync(file).size,
        'Docker-Content-Digest': digest,
      },
      file,
    );
  })
  .listen(Number(port), '0.0.0.0');
