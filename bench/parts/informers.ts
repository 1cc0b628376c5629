import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { goTool } from '../../test/support/go-tools.ts';
import { runJson, runScript } from '../support/run-json.ts';
import { medians } from './medians.ts';

/** The line that a worker prints. */
export interface InformerRun {
  readonly syncSeconds: number;
  readonly syncCPUSeconds: number;
  /** Heap after a collection, in bytes. */
  readonly bytesAnObject: number;
  /** From the first event to the last, in the store and told to a handler. */
  readonly eventsASecond: number;
  readonly cpuUsAnEvent: number;
  readonly maxRSS: number;
}

export const informers = {
  ours: 'Reflector (JSON)',
  clientNode: 'informer of client-node (JSON)',
  goJson: 'informer of client-go (JSON)',
  goProtobuf: 'informer of client-go (protobuf)',
} as const;
export type Informer = keyof typeof informers;

/** A server that has nothing but these pods and these changes. It runs until it is disposed of. */
async function podServer(pods: number, events: number): Promise<AsyncDisposable & { readonly url: string }> {
  const child = spawn(await goTool('peer'), ['-mode', 'pod-server', '-pods', `${pods}`, '-events', `${events}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<never>((_, reject) => {
    child.once('error', reject).once('exit', () => reject(new Error('The pod server has ended')));
  });
  ended.catch(() => {});
  const line = new Promise<string>((resolve) => {
    createInterface(child.stdout).once('line', resolve);
  });
  const { url } = JSON.parse(await Promise.race([line, ended])) as { url: string };
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill();
      await ended.catch(() => {});
    },
  };
}

async function run(informer: Informer, server: string, pods: number, events: number): Promise<InformerRun> {
  if (informer === 'ours' || informer === 'clientNode')
    return runScript('parts/informer-worker.ts', ['--client', informer, '--server', server, '--pods', pods, '--events', events]);
  const contentType = informer === 'goJson' ? 'json' : 'protobuf';
  const flags = ['-mode', 'informer', '-server', server, '-pods', pods, '-events', events, '-content-type', contentType];
  return runJson(await goTool('peer'), flags.map(String));
}

/** Runs the informers in turn, `rounds` times, against one server in memory. Medians over the rounds. */
export async function compareInformers(
  { pods, events }: { readonly pods: number; readonly events: number },
  rounds: number,
): Promise<Record<Informer, InformerRun>> {
  const runs: Record<Informer, InformerRun[]> = { ours: [], clientNode: [], goJson: [], goProtobuf: [] };
  await using server = await podServer(pods, events);
  const names = Object.keys(informers) as Informer[];
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) runs[name].push(await run(name, server.url, pods, events));
  }
  return Object.fromEntries(names.map((name) => [name, medians(runs[name])])) as Record<Informer, InformerRun>;
}
