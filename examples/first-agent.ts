// A node whose containers are processes of this machine: a container's image is the name of a program.
// Run it: KUBECONFIG=FILE node examples/first-agent.ts. See it work: node examples/try-first-agent.ts
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { loadClientConfig, type Pod } from 'pod-status-manager';
import { type Admission, ContainerProvider, type ContainerSpec, ProviderNode } from 'pod-status-manager/node';

/** Starts a process of a container, in a group of its own, so that a signal reaches all that it starts. */
function start({ env = [], workingDir: cwd }: ContainerSpec, command: readonly string[], input: Readable | undefined) {
  const variables = env.map(({ name, value = '' }) => `${name}=${value}`);
  const child = spawn('env', [...variables, ...command], { cwd, detached: true });
  const send = (signal: string): void => {
    if (child.pid !== undefined) spawnSync('kill', ['-s', signal, '--', `-${child.pid}`]);
  };
  child.on('exit', () => send('KILL')); // what it has left behind
  child.stdin.on('error', () => {}); // it may end before it has read everything
  if (input) input.pipe(child.stdin);
  else child.stdin.end();
  return { child, send };
}

const provider = new ContainerProvider({
  async runContainer(container, { stop, kill, stdin, stdout, stderr }) {
    const { image = '', command = [image], args = [] } = container;
    const { child, send } = start(container, [...command, ...args], stdin);
    child.stdout.pipe(stdout); // for kubectl logs and attach
    child.stderr.pipe(stderr);
    child.stdout.on('data', (text) => process.stdout.write(text)); // and for who has started the agent
    stop.addEventListener('abort', () => send('TERM'));
    kill.addEventListener('abort', () => send('KILL'));
    const [code] = await once(child, 'close');
    return code ?? 137; // a signal has ended it
  },
  async execInContainer(container, command, { stdin, stdout, stderr }, { signal }) {
    const { child, send } = start(container, command, stdin);
    child.stdout.pipe(stdout ?? new PassThrough().resume());
    child.stderr.pipe(stderr ?? new PassThrough().resume());
    signal.addEventListener('abort', () => send('KILL'));
    const [code] = await once(child, 'close');
    return code ?? 137;
  },
});

/** What the pod asks for and this agent cannot do. */
function* unsupported({ spec }: Pod): Generator<string> {
  for (const { name, projected } of spec?.volumes ?? []) {
    const isToken = projected && name.startsWith('kube-api-access-'); // every pod has it; no process here needs it
    if (!isToken) yield `volume ${name}: volumes are`;
  }
  for (const container of [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]) {
    for (const field of ['livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'] as const)
      if (container[field]) yield `container ${container.name}: ${field} is`;
  }
}

/** A pod that asks for more than it would get does not begin: it is Failed, and says why. */
function admitPod(pod: Pod): Admission {
  const [what] = unsupported(pod);
  if (what === undefined) return { admit: true };
  return { admit: false, reason: 'NotSupported', message: `${what} not supported by this agent` };
}

const kubeConfig = loadClientConfig();
const nodeName = process.env.NODE_NAME ?? 'my-first-node';
const node = new ProviderNode({ kubeConfig, nodeName, provider, admitPod });

// heard from the first moment on: pods run before the start has ended
const ended = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
await Promise.race([node.start(), ended]);
await ended;
await node.stop();
await provider.close();
