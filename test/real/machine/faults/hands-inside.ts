// Inside the machine: node hands-inside.ts ROOT WITNESS. Each line of its input is a call, as JSON, and each of its output an answer.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { FullDisk, ownNode } from '../../node/faults/kit-processes.ts';

const [root = '', witness = ''] = process.argv.slice(2);
const own = ownNode(witness, root);
const disk = new FullDisk(root);
/** Containers count the boots in the same way: see workload.ts. */
const uptimeOfAllBoots = async (): Promise<number> =>
  Number(await readFile(join(witness, 'boots'), 'utf8')) * 1_000_000 + (await own.uptime());

const calls: Readonly<Record<string, (argument: string) => Promise<unknown>>> = {
  uptime: uptimeOfAllBoots,
  podProcesses: () => own.podProcesses(),
  leftoversOf: (podUID) => own.leftoversOf(podUID),
  readWitness: (name) => own.readWitness(name),
  kill: (pid) => own.kill(Number(pid)),
  filesWith: (text) => own.filesWith(text),
  fill: () => disk.fill(),
  free: () => disk.free(),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, name, argument } = JSON.parse(line) as { id: number; name: string; argument: string };
  const call = calls[name];
  if (call === undefined) throw new Error(`no call ${name}`);
  void call(argument).then(
    (result) => console.log(JSON.stringify({ id, result })),
    (error: unknown) => console.log(JSON.stringify({ id, error: String(error) })),
  );
}
