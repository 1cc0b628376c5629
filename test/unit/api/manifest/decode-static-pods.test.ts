import { describe, expect, it } from 'vitest';
import { isStatusManagerError } from '../../../../src/index.ts';
import { decodeStaticPods, InvalidManifestError, type ManifestOrigin } from '../../../../src/node.ts';

const origin: ManifestOrigin = { source: '/etc/manifests/web.yaml', isFile: true, nodeName: 'Node-1' };
const file: ManifestOrigin = { ...origin, nodeName: 'node-1' };
const url: ManifestOrigin = { source: 'http://example.com/pods', isFile: false, nodeName: 'node-1' };
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { containers: [{ name: 'app', image: 'app:1' }] } };

function uidOf(manifest: object, from: ManifestOrigin): string {
  return decodeStaticPods(JSON.stringify(manifest), from)[0]?.metadata?.uid ?? '';
}

function refusal(text: string, from: ManifestOrigin): InvalidManifestError {
  try {
    decodeStaticPods(text, from);
  } catch (error) {
    if (error instanceof InvalidManifestError) return error;
    throw error;
  }
  throw new Error('the manifest was taken');
}

describe('decodeStaticPods', () => {
  it('gives a pod the name of its node, a uid, a namespace and what it tolerates', () => {
    const [decoded, ...others] = decodeStaticPods(JSON.stringify(pod), file);
    expect(others).toEqual([]);
    expect(decoded?.metadata).toEqual({
      name: 'web-node-1',
      namespace: 'default',
      uid: expect.stringMatching(/^[0-9a-f]{32}$/),
      annotations: { 'kubernetes.io/config.hash': decoded?.metadata?.uid },
    });
    expect(decoded?.spec?.nodeName).toBe('node-1');
    expect(decoded?.spec?.tolerations).toEqual([{ operator: 'Exists', effect: 'NoExecute' }]);
    expect(decoded?.status).toEqual({ phase: 'Pending' });
  });

  it('makes a uid that depends on the content, the file and the node, and on nothing else', () => {
    const uid = uidOf(pod, file);
    const { metadata, spec, ...rest } = pod;
    expect(uidOf({ spec, metadata, ...rest }, file)).toBe(uid);
    const others = [
      uidOf({ ...pod, metadata: { name: 'db' } }, file),
      uidOf(pod, { ...file, source: '/etc/manifests/db.yaml' }),
      uidOf(pod, { ...file, nodeName: 'node-2' }),
      uidOf(pod, url),
    ];
    expect(new Set([uid, ...others]).size).toBe(5);
    expect(uidOf(pod, { ...url, nodeName: 'node-2' })).toBe(others[3]);
    expect(uidOf({ ...pod, metadata: { name: 'web', uid: 'given' } }, file)).toBe('given');
  });

  it('reads a list from a URL, and none from a file', () => {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: [pod, { ...pod, metadata: { name: 'db' } }] });
    expect(decodeStaticPods(list, url).map(({ metadata }) => metadata?.name)).toEqual(['web-node-1', 'db-node-1']);
    expect(refusal(list, file)).toMatchObject({ path: 'kind', parsed: false });
  });

  it('says what is wrong, where, and with which value', () => {
    const broken = { ...pod, spec: { containers: [{ name: 'App', image: 'app:1' }] } };
    const error = refusal(JSON.stringify(broken), file);
    expect(isStatusManagerError(error, 'ERR_INVALID_MANIFEST')).toBe(true);
    expect(error).toMatchObject({ source: file.source, path: 'spec.containers[0].name', parsed: true });
    expect(error.message).toMatch(
      /^\/etc\/manifests\/web.yaml: Expected `spec.containers\[0\].name` to be .*, got "App" \(string\)$/,
    );
  });

  it('tells a pod that may not run from what is no pod', () => {
    expect(refusal('', file).parsed).toBe(false);
    expect(refusal(JSON.stringify({ ...pod, spec: { containers: 'x' } }), file)).toMatchObject({
      path: 'spec.containers',
      parsed: false,
    });
    expect(refusal(JSON.stringify({ ...pod, metadata: {} }), file)).toMatchObject({ path: 'metadata.name', parsed: true });
    expect(refusal(JSON.stringify(pod), origin)).toMatchObject({ path: 'spec.nodeName', parsed: true });
  });

  it('takes a privileged container, as a kubelet does', () => {
    const privileged = { ...pod, spec: { containers: [{ name: 'app', image: 'app:1', securityContext: { privileged: true } }] } };
    expect(decodeStaticPods(JSON.stringify(privileged), file)[0]?.spec?.containers[0]?.securityContext).toEqual({
      privileged: true,
    });
  });

  it.each([
    [undefined, file, 'text'],
    ['', null, 'origin'],
    ['', { ...file, source: '' }, 'origin.source'],
    ['', { ...file, nodeName: 1 }, 'origin.nodeName'],
    ['', { ...file, isFile: 'yes' }, 'origin.isFile'],
  ])('refuses arguments of the wrong type: %j %j', (text, from, name) => {
    expect(() => decodeStaticPods(text as string, from as ManifestOrigin)).toThrow(`Expected \`${name}\` to be`);
  });
});
