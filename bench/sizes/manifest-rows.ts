import { decodeStaticPods } from '../../src/node.ts';
import { hostilePart } from '../../test/support/hostile/hostile-pods.ts';
import type { Sized, SizedInput } from './measure.ts';
import { listOf } from './texts.ts';

const longest = 10 * 1024 * 1024 - 1000;
const origin = { source: '/etc/pods/p.yaml', isFile: true, nodeName: 'n' };

function decoded(text: string): Sized {
  const run = (): unknown => {
    try {
      return decodeStaticPods(text, origin);
    } catch (error) {
      // what is refused counts, too: the work until then is what is measured
      return error;
    }
  };
  return { bytes: text.length, run, held: run };
}

function jsonOf(kind: string): SizedInput['make'] {
  return (size) => {
    const { metadata, spec, container } = hostilePart(kind, size);
    const containers = [{ name: 'app', image: 'app:1', ...container }];
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...metadata }, spec: { containers, ...spec } };
    return decoded(JSON.stringify(pod));
  };
}

const head = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n';

function yamlVariables(size: number): Sized {
  const env = listOf(Math.floor(size / 44), (i) => `    - name: E${i}\n      value: v${i}\n`);
  return decoded(`${head}  containers:\n  - name: app\n    image: app:1\n    env:\n${env.join('')}`);
}

function yamlContainers(size: number): Sized {
  return decoded(`${head}  containers:\n${listOf(Math.floor(size / 36), (i) => `  - name: c${i}\n    image: app:1\n`).join('')}`);
}

/** Each alias stands for a list of ten of those before it. */
function yamlAliases(size: number): Sized {
  const levels = listOf(9, (i) => `  a${i + 1}: &a${i + 1} [${listOf(10, () => `*a${i}`).join()}]\n`).join('');
  const uses = `  u: [${listOf(Math.floor(size / 4), () => '*a9').join()}]\n`;
  return decoded(`${head}  a0: &a0 v\n${levels}${uses}`);
}

function yamlText(size: number): Sized {
  return decoded(`${head}  containers:\n  - name: app\n    image: app:1\n    command: ["${'x\\n'.repeat(size / 3)}"]\n`);
}

export const manifestRows: readonly SizedInput[] = [
  { input: 'manifest, JSON: variables', most: longest, make: jsonOf('environment') },
  { input: 'manifest, JSON: containers', most: longest, make: jsonOf('containers') },
  { input: 'manifest, JSON: init containers', most: longest, make: jsonOf('init containers') },
  { input: 'manifest, JSON: ports', most: longest, make: jsonOf('ports') },
  { input: 'manifest, JSON: mounts', most: longest, make: jsonOf('mounts of one volume') },
  { input: 'manifest, JSON: tolerations', most: longest, make: jsonOf('tolerations') },
  { input: 'manifest, JSON: spread constraints', most: longest, make: jsonOf('spread constraints') },
  { input: 'manifest, JSON: resources', most: longest, make: jsonOf('resources') },
  { input: 'manifest, JSON: labels', most: longest, make: jsonOf('labels') },
  { input: 'manifest, YAML: variables', most: longest, make: yamlVariables },
  { input: 'manifest, YAML: containers', most: longest, make: yamlContainers },
  { input: 'manifest, YAML: one text', most: longest, make: yamlText },
  { input: 'manifest, YAML: aliases, refused', most: longest, make: yamlAliases },
];
