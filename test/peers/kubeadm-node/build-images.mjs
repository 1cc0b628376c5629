// Makes the images that kubeadm starts a control plane from, of the programs of the node kit, as one OCI archive.
//   node build-images.mjs --bin DIR --names FILE --out FILE.tar
// FILE has one image reference a line: what `kubeadm config images list` prints. The last path part of a reference is the program;
// one without a program here, CoreDNS, is left out. Nothing is downloaded.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

const arg = (name) => process.argv[process.argv.indexOf(`--${name}`) + 1];
const [bin, out] = [arg('bin'), path.resolve(arg('out'))];
const names = fs.readFileSync(arg('names'), 'utf8').split('\n').filter(Boolean);
const work = fs.mkdtempSync(`${out}.work-`);
const blobs = path.join(work, 'blobs/sha256');
fs.mkdirSync(blobs, { recursive: true });

const blob = (bytes) => {
  const digest = createHash('sha256').update(bytes).digest('hex');
  fs.writeFileSync(path.join(blobs, digest), bytes);
  return { digest: `sha256:${digest}`, size: bytes.length };
};
const put = (from, to) => {
  fs.mkdirSync(path.dirname(to), { recursive: true });
  fs.copyFileSync(fs.realpathSync(from), to);
  fs.chmodSync(to, 0o755);
};
/** A program of this machine with the libraries that it loads. */
const putWithLibraries = (from, dir) => {
  put(from, path.join(dir, from));
  for (const [, library] of execFileSync('ldd', [from], { encoding: 'utf8' }).matchAll(/(\/[^\s]+) \(0x/g)) {
    if (!fs.existsSync(path.join(dir, library))) put(library, path.join(dir, library));
  }
};
/** kube-proxy calls these; the modules of iptables are libraries that it looks for. */
const putTables = (dir) => {
  const tables = '/usr/sbin/xtables-legacy-multi';
  putWithLibraries(tables, dir);
  for (const name of ['iptables', 'iptables-save', 'iptables-restore', 'ip6tables', 'ip6tables-save', 'ip6tables-restore'])
    fs.symlinkSync(tables, path.join(dir, 'usr/sbin', name));
  const modules = '/usr/lib/x86_64-linux-gnu/xtables';
  fs.cpSync(modules, path.join(dir, modules), { recursive: true });
  putWithLibraries('/usr/sbin/conntrack', dir);
};

const manifests = [];
for (const name of names) {
  const program = path.basename(name.slice(0, name.lastIndexOf(':')));
  if (!fs.existsSync(path.join(bin, program))) continue;
  const dir = path.join(work, program);
  put(path.join(bin, program), path.join(dir, program === 'pause' ? 'pause' : `usr/local/bin/${program}`));
  for (const empty of ['etc', 'tmp', 'proc', 'sys', 'dev', 'run', 'var'])
    fs.mkdirSync(path.join(dir, empty), { recursive: true });
  if (program === 'kube-proxy') putTables(dir);
  const tar = `${dir}.tar`;
  execFileSync('tar', ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '-C', dir, '-cf', tar, '.']);
  const layer = blob(fs.readFileSync(tar));
  fs.rmSync(tar);
  fs.rmSync(dir, { recursive: true });
  const entry = program === 'pause' ? { Entrypoint: ['/pause'], User: '65535:65535' } : {};
  const config = blob(
    Buffer.from(
      JSON.stringify({
        architecture: 'amd64',
        os: 'linux',
        created: '1970-01-01T00:00:00Z',
        config: { Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'], WorkingDir: '/', ...entry },
        rootfs: { type: 'layers', diff_ids: [layer.digest] },
      }),
    ),
  );
  const manifest = blob(
    Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...config },
        layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar', ...layer }],
      }),
    ),
  );
  manifests.push({
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    ...manifest,
    annotations: { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1) },
  });
}
fs.writeFileSync(path.join(work, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
const index = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests };
fs.writeFileSync(path.join(work, 'index.json'), JSON.stringify(index));
execFileSync('tar', ['-C', work, '-cf', `${out}.part`, 'oci-layout', 'index.json', 'blobs']);
fs.renameSync(`${out}.part`, out);
fs.rmSync(work, { recursive: true, force: true });
console.log(`${manifests.length} of ${names.length} images`);
