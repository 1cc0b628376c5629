// A process that has no file descriptors left, and has some again: what runs programs says so, and goes on.
import { closeSync, openSync } from 'node:fs';
import { runProgram } from '../../../src/base/run-program.ts';
import { startProgram } from '../../../src/kubelet/shutdown/watched-program.ts';

const { signal } = new AbortController();
const run = () => runProgram({ command: 'sh', args: ['-c', 'echo a'], mostOutputBytes: 1000, signal });
const watch = async () => {
  const program = await startProgram({ command: 'echo', args: ['begin'], isReady: (line) => line === 'begin', signal });
  program.end();
  await program.ended;
  return 'begun';
};
const words = async (started: Promise<string>) => started.catch((error: Error) => error.message);
const both = async () => [await words(run()), await words(watch())];

// what they load is loaded
await both();
const opened: number[] = [];
try {
  for (;;) opened.push(openSync('/dev/null', 'r'));
} catch {
  // none is left
}
const short = await both();
for (const descriptor of opened) closeSync(descriptor);
console.log(JSON.stringify({ short, after: await both() }));
