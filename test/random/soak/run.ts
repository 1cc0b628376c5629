// `npm run soak -- [PART...]`: each part lives for long in virtual time, and what it keeps is measured.
import { parseArgs } from 'node:util';
import { soakProblems } from './measure.ts';
import { soakMutants, tryMutant } from './mutants.ts';
import { soakParts } from './parts/index.ts';
import { runPart, SoakFailure } from './run-part.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string' },
    changes: { type: 'string' },
    seed: { type: 'string', default: '1' },
    mutants: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const [minutes, changes, seed] = [Number(values.minutes ?? 0), Number(values.changes ?? 0), Number(values.seed)];
const known = soakParts.map(({ name }) => name);
const unknown = positionals.filter((name) => !known.includes(name));
if (values.help || unknown.length > 0 || !(minutes >= 0 && changes >= 0) || !Number.isInteger(seed)) {
  console.error(`Usage: npm run soak -- [PART...] [--minutes N | --changes N] [--seed S] [--mutants]
  Each part lives for N real minutes, or for N changes (default 200,000), and is then ended. Exits 1 when it keeps memory for each
  change, when an object that is gone can be reached, or when a timer, a listener, a promise, a watch or a socket is left.
  --mutants     breaks a part on purpose, in each way of the list, and expects that to be seen
  Parts: ${known.join(', ')}`);
  process.exit(values.help ? 0 : 2);
}

const chosen = positionals.length > 0 ? positionals : known;
let failures = 0;
if (values.mutants) {
  for (const mutant of soakMutants.filter(({ part }) => chosen.includes(part))) {
    const problems = await tryMutant(mutant, seed);
    if (problems.length === 0) failures++;
    console.log(`${mutant.name}: ${problems.length === 0 ? 'NOT SEEN' : problems.join('; ')}`);
  }
} else {
  const length = { seed, minutes, changes: minutes > 0 ? 0 : changes || 200_000 };
  for (const name of chosen) {
    const result = await runPart(name, length).catch((error: unknown) => {
      if (!(error instanceof SoakFailure)) throw error;
      failures++;
      console.log(`${name}: WRONG: ${error.message}`);
    });
    if (result === undefined) continue;
    const problems = soakProblems(result);
    if (problems.length > 0) failures++;
    const { changes: made, bytesAChange, ms } = result;
    const figures = `${made} changes in ${(ms / 1000).toFixed(0)} s, ${bytesAChange.toFixed(2)} bytes a change`;
    console.log(`${name}: ${figures}${problems.length > 0 ? `; WRONG: ${problems.join('; ')}` : ''}`);
  }
}
process.exitCode = failures === 0 ? 0 : 1;
