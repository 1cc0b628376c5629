// A scheduler in the place of kube-scheduler, with its profiles, or with those of a policy file.
// Run it: node examples/scheduler/main.ts --help
import { help, parseFlags } from './flags.ts';
import { run } from './run.ts';

const stopping = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.abort());
try {
  const flags = parseFlags(process.argv.slice(2));
  if (flags === 'help') console.log(help);
  else await run(flags, stopping.signal, console.log);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
