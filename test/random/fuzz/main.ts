import { parseArgs } from 'node:util';
import { FuzzRun } from './fuzz-run.ts';
import { ServerFuzz } from './server-fuzz.ts';

const usage = `Talks over raw sockets as anybody might.

  npm run fuzz -- [clients | servers] [--exchanges N] [--seed S] [--from F]

  clients        the clients of this library ask servers that answer with anything: HTTP/1.1, watches, HTTP/2, reflectors (the default)
  servers        clients that send anything ask the servers of this library: the APIs of a kubelet and of a provider's node, and the debug handler

  --exchanges N  how many (default 10000)
  --seed S       the same seed gives the same answers (default 1)
  --from F       the number of the first exchange (default 0): one that failed comes again with --from ITS-NUMBER --exchanges 1
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    exchanges: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    help: { type: 'boolean', default: false },
  },
});

const [side = 'clients', ...others] = positionals;
if (values.help || !['clients', 'servers'].includes(side) || others.length > 0) {
  console.log(usage);
  process.exitCode = values.help ? 0 : 2;
} else {
  const [exchanges, seed, from] = [values.exchanges, values.seed, values.from].map(Number) as [number, number, number];
  const { answered, failed, mostMegabytes, faults } = await (side === 'clients' ? new FuzzRun(seed) : new ServerFuzz(seed)).run(
    exchanges,
    from,
  );
  for (const fault of faults.slice(0, 50)) console.log(fault);
  console.log(
    `seed ${seed}: ${exchanges} exchanges, ${answered} answered, ${failed} ${side === 'clients' ? 'failures told' : 'without an answer'}, ${mostMegabytes} MB at most, ${faults.length} faults`,
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
}
