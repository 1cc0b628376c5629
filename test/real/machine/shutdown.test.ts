import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { root } from '../../structure/source-tree.ts';
import { pollUntil } from '../../support/poll-until.ts';
import { NodeMachine } from './support/node-machine.ts';
import { whyNoMachine } from './support/why-no-machine.ts';

const support = join(root, 'test/real/machine/support');
const server = 'http://10.0.2.1:8080';
const kept = '/var/lib/node-agent';
const unit = `[Service]
WorkingDirectory=${root}
ExecStart=${process.execPath} ${support}/agent-of-machine.ts ${server} ${kept}
KillMode=process
`;
const slow = { withinMs: 120_000 };

let machine: NodeMachine;

beforeAll(async () => {
  const reason = await whyNoMachine();
  if (reason !== undefined) throw new Error(`not run: ${reason}`);
  machine = await NodeMachine.start({ shared: [root] });
  const api = machine.spawnOutside([process.execPath, join(support, 'server-outside.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (api.stdout === null) throw new Error('no output');
  await once(api.stdout, 'data');
  await machine.read([
    'sh',
    '-c',
    'printf %s "$1" > /etc/systemd/system/node-agent.service && systemctl daemon-reload',
    'sh',
    unit,
  ]);
});

afterAll(() => machine?.stop());

interface Seen {
  readonly reason?: string;
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
  readonly items?: readonly Seen[];
}

/** What the apiserver answers. */
async function asked(path: string, body?: object): Promise<Seen> {
  const script = `const [url, body] = process.argv.slice(1);
    const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    console.log(await (await fetch(url, body ? post : {})).text());`;
  const more = body === undefined ? [] : [JSON.stringify(body)];
  const { stdout, stderr } = await machine.runOutside([
    process.execPath,
    '--input-type=module',
    '-e',
    script,
    `${server}${path}`,
    ...more,
  ]);
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Seen;
}

const pods = '/api/v1/namespaces/default/pods';

async function create(name: string, priority: number): Promise<void> {
  const spec = { nodeName: 'node-machine', priority, containers: [{ name: 'app', image: 'app:1' }] };
  await asked(pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec });
}

const statusOf = async (name: string) => (await asked(`${pods}/${name}`)).status;
const readyOf = async () => (await asked('/api/v1/nodes/node-machine')).status?.conditions?.find(({ type }) => type === 'Ready');
const running = (name: string) => pollUntil(`${name} runs`, async () => (await statusOf(name))?.phase === 'Running', slow);
const reasonsOfEvents = async () => (await asked('/api/v1/events')).items?.map(({ reason }) => reason) ?? [];
const delayed = () =>
  pollUntil('the shutdown is delayed', async () => (await machine.read(['systemd-inhibit', '--list'])).includes('kubelet'), slow);

it('a reboot waits until the pods have ended by priority, and the apiserver has their statuses; then pods run again', async () => {
  await machine.read(['systemctl', 'start', 'node-agent']);
  for (const [name, priority] of [
    ['critical', 2_000_001_000],
    ['low', 0],
    ['middle', 1000],
  ] as const)
    await create(name, priority);
  for (const name of ['critical', 'low', 'middle']) await running(name);
  await delayed();
  expect(await machine.read(['cat', '/etc/systemd/logind.conf.d/99-kubelet.conf'])).toContain('InhibitDelayMaxSec=50');

  // what others than systemd-logind say is not heard
  const [object, logind] = ['/org/freedesktop/login1', 'org.freedesktop.login1.Manager'];
  await machine.read(['busctl', 'emit', object, logind, 'PrepareForShutdown', 'b', 'true']);
  await machine.read(['systemctl', 'restart', 'systemd-logind']);
  await delayed();
  expect((await machine.run(['ls', `${kept}/stops`])).code).not.toBe(0);

  await machine.reboot();
  const stops = await machine.read(['cat', `${kept}/stops`]);
  expect(stops.split('\n').map((line) => line.split(' ')[0])).toEqual(['low', 'middle', 'critical']);
  for (const name of ['low', 'middle', 'critical']) {
    expect(await statusOf(name)).toMatchObject({ phase: 'Failed', reason: 'Terminated' });
  }
  expect(await readyOf()).toMatchObject({ status: 'False', message: 'node is shutting down' });
  expect(await reasonsOfEvents()).toContain('Shutdown');
  expect(await machine.read(['cat', `${kept}/kubelet/graceful_node_shutdown_state`])).not.toContain('0001-01-01');

  await machine.read(['systemctl', 'start', 'node-agent']);
  await create('next', 0);
  await running('next');
  expect(await readyOf()).toMatchObject({ status: 'True' });
  await delayed();
  expect(await reasonsOfEvents()).toContain('Rebooted');

  // nothing of the agent stays when it is killed
  await machine.read(['systemctl', 'kill', '--signal=KILL', '--kill-whom=main', 'node-agent']);
  const programs = 'pgrep -x busctl || pgrep -x systemd-inhibit || echo none';
  await pollUntil('its programs have ended', async () => (await machine.read(['sh', '-c', programs])) === 'none', slow);
});
