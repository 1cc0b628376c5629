import { parseArgs } from 'node:util';
import { FuzzRun } from './fuzz-run.ts';

const usage = `Asks servers that answer with anything, over raw sockets: HTTP/1.1, watches, HTTP/2, reflectors.

  npm run fuzz -- [--exchanges N] [--seed S] [--from F]

  --exchanges N  how many (default 10000)
  --seed S       the same seed gives the same answers (default 1)
  --from F       the number of the first exchange (default 0): one that failed comes again with --from ITS-NUMBER --exchanges 1
`;

const { values } = parseArgs({
  options: {
    exchanges: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(usage);
} else {
  const [exchanges, seed, from] = [values.exchanges, values.seed, values.from].map(Number) as [number, number, number];
  const { answered, failed, mostMegabytes, faults } = await new FuzzRun(seed).run(exchanges, from);
  for (const fault of faults.slice(0, 50)) console.log(fault);
  console.log(
    `seed ${seed}: ${exchanges} exchanges, ${answered} answered, ${failed} failures told, ${mostMegabytes} MB at most, ${faults.length} faults`,
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
}
