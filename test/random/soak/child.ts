// One part in a process of its own: `node --expose-gc test/random/soak/child.ts PART SEED CHANGES MINUTES`. Prints its result as JSON.
import { soak } from './measure.ts';
import { soakParts } from './parts/index.ts';

const [name, seed, changes, minutes] = process.argv.slice(2);
const part = soakParts.find((each) => each.name === name);
if (part === undefined)
  throw new TypeError(`there is no part "${name}"; there are ${soakParts.map((each) => each.name).join(', ')}`);
const answer = await soak(part, { changes: Number(changes), minutes: Number(minutes), seed: Number(seed) }).then(
  (result) => ({ result }),
  (error: unknown) => ({ failure: error instanceof Error ? error.message : String(error) }),
);
console.log(JSON.stringify(answer));
process.exit(0);
