// npm run test:node-faults [-- --seeds 3 --seed 1 --faults 8 --agent ours|kubelet --kinds "agent killed,disk full"]
// Faults over real containers, in a kit of its own: test/peers/node-kit. Exits with 1 on any damage. Needs root.
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { agents, commandOf } from '../../../../bench/node-agent/agents.ts';
import { Kit } from '../../../support/kit.ts';
import { rules } from './check.ts';
import { faultKinds } from './fault-kinds.ts';
import type { PlayOutput } from './play-seed.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    faults: { type: 'string', default: '8' },
    agent: { type: 'string', default: 'ours' },
    kinds: { type: 'string' },
    run: { type: 'string' },
  },
});

const agent = agents.find((one) => one === values.agent);
if (agent === undefined) throw new Error(`--agent must be one of ${agents.join(', ')}, got "${values.agent}"`);
/** A kit cannot boot; the kubelet ends where its disk is full. */
const without = ['machine rebooted', ...(agent === 'ours' ? [] : ['disk full'])];
const kinds = values.kinds?.split(',') ?? Object.keys(faultKinds).filter((kind) => !without.includes(kind));
for (const kind of kinds) if (!(kind in faultKinds)) throw new Error(`--kinds: there is no fault "${kind}"`);

const root = '/var/lib/kubelet';
/** A node that takes no pods for five minutes, as by default, would have nothing to do. */
const pressureSeconds = 10;
const script = fileURLToPath(new URL('play.ts', import.meta.url));
const outputs: PlayOutput[] = [];
await using kit = await Kit.start(values.run === undefined ? {} : { run: values.run });
await appendFile(join(kit.run, 'kubelet.yaml'), `evictionPressureTransitionPeriod: ${pressureSeconds}s\n`);
const fillsDisk = kinds.includes('disk full');
if (fillsDisk) await kit.enter(['mount', '-t', 'tmpfs', '-o', 'size=64m,mode=755', 'tmpfs', root]);
for (let n = 0; n < Number(values.seeds); n++) {
  const given = { seed: Number(values.seed) + n, faults: values.faults, kinds: kinds.join(','), run: kit.run, root };
  const settings = { ...given, 'pressure-seconds': pressureSeconds, command: commandOf(agent, kit.run) };
  const flags = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  const text = await kit.enter([process.execPath, script, ...flags, ...(fillsDisk ? ['--fill-disk'] : [])]);
  const output = JSON.parse(text.trim().split('\n').at(-1) ?? '') as PlayOutput;
  outputs.push(output);
  console.log(JSON.stringify(output));
}

const sum = (value: (output: PlayOutput) => number): number => outputs.reduce((total, output) => total + value(output), 0);
const faults = kinds.map((kind) => `${kind} ${sum((output) => output.faults[kind] ?? 0)}`);
console.log(`${agent}: ${outputs.length} seeds, ${sum(({ pods }) => pods)} pods, ${sum(({ runs }) => runs)} runs of containers`);
console.log(`faults: ${faults.join(', ')}`);
for (const rule of rules) {
  console.log(`${rule.padEnd(46)} ${sum(({ damage }) => damage.filter((one) => one.rule === rule).length)}`);
}
console.log(`kept by the runtime until it starts again: ${sum(({ keptByRuntime }) => keptByRuntime)}`);
process.exitCode = sum(({ damage }) => damage.length) === 0 ? 0 : 1;
