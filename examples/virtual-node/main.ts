// `npm start`: a virtual node whose pods live whole lives, and a status manager that writes their statuses to an apiserver. With
// `--node` the pods are run by a whole node agent, over a container runtime in memory; with `--schedule` a scheduler places them
// on several virtual nodes.
import { runAgentDemo } from './agent/agent-demo.ts';
import { runDemo } from './demo.ts';
import { help, usage } from './help.ts';
import { type DemoOptions, parseOptions, UsageError } from './options.ts';
import { runScheduleDemo } from './schedule/schedule-demo.ts';
import { openScreen } from './screen.ts';
import { describeError } from './verdict.ts';

const ending = new AbortController();
const hurrying = new AbortController();

function interrupt(): void {
  if (ending.signal.aborted) hurrying.abort();
  else ending.abort();
}

function runOf({ node, schedule }: DemoOptions): typeof runDemo {
  if (schedule) return runScheduleDemo;
  return node ? runAgentDemo : runDemo;
}

async function main(argv: readonly string[]): Promise<number> {
  try {
    const options = parseOptions(argv);
    if (options === 'help') {
      console.log(help);
      return 0;
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
    // the reader of the output has gone: the run ends early and cleans up
    process.stdout.on('error', interrupt);
    const run = runOf(options);
    const ok = await run(options, openScreen(process.stdout), { ending: ending.signal, hurrying: hurrying.signal });
    return ok ? 0 : 1;
  } catch (error) {
    console.error(describeError(error));
    if (!(error instanceof UsageError)) return 1;
    console.error(`${usage}\nnpm start -- --help says more.`);
    return 2;
  }
}

process.exitCode = await main(process.argv.slice(2));
