// npm run test:machine-faults [-- --seeds 3 --seed 1 --faults 8 --driver cgroupfs --kinds "agent killed,machine rebooted"]
// Faults over real containers in a machine with systemd and cgroups of version 2, its reboot among them. Exits with 1 on any damage.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Prng } from '../../../random/chaos/prng.ts';
import buildPackage from '../../../support/build-setup.ts';
import { rules } from '../../node/faults/check.ts';
import { type FaultKind, faultKinds } from '../../node/faults/fault-kinds.ts';
import { type PlayOutput, playSeed } from '../../node/faults/play-seed.ts';
import { buildForMachine, type CgroupDriver, MachineNode } from '../support/machine-node.ts';
import { sharedByDefault } from '../support/node-machine.ts';
import { componentsOf, MachineHands, prepareMachine, UnitAgent, witness } from './machine-hands.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    faults: { type: 'string', default: '8' },
    driver: { type: 'string', default: 'systemd' },
    kinds: { type: 'string', default: Object.keys(faultKinds).join(',') },
  },
});
const driver = (['systemd', 'cgroupfs'] satisfies CgroupDriver[]).find((one) => one === values.driver);
if (driver === undefined) throw new Error(`--driver must be systemd or cgroupfs, got "${values.driver}"`);
const kinds = values.kinds.split(',') as FaultKind[];
for (const kind of kinds) if (!(kind in faultKinds)) throw new Error(`--kinds: there is no fault "${kind}"`);

/** The agent's default. */
const defaultPressureSeconds = 300;

/** Plays one seed on a machine that has been played on before. */
async function play(node: MachineNode, hands: MachineHands, seed: number): Promise<PlayOutput> {
  const { admin, machine } = node;
  const agent = new UnitAgent(machine);
  const played = { seed, prng: new Prng(seed), faults: Number(values.faults), kinds };
  const place = { node: hands, disk: hands, witness, nodeName: MachineNode.nodeName };
  const options = { admin, agent, kit: componentsOf(node), ...place, pressureSeconds: defaultPressureSeconds };
  return playSeed(played, options);
}

await buildForMachine();
await buildPackage();
const outputs: PlayOutput[] = [];
const node = await MachineNode.start(driver);
try {
  await prepareMachine(node.machine);
  await node.startUnitFile();
  const hands = await MachineHands.open(node.machine, join(sharedByDefault()[1] ?? '', 'node-kit/bin'));
  for (let n = 0; n < Number(values.seeds); n++) {
    const output = await play(node, hands, Number(values.seed) + n);
    outputs.push(output);
    console.log(JSON.stringify(output));
    if (output.damage.length > 0) console.log(await node.agentLog());
  }
  hands.close();
} finally {
  await node.stop();
}

const sum = (value: (output: PlayOutput) => number): number => outputs.reduce((total, output) => total + value(output), 0);
const faults = kinds.map((kind) => `${kind} ${sum((output) => output.faults[kind] ?? 0)}`);
console.log(`${outputs.length} seeds, ${sum(({ pods }) => pods)} pods, ${sum(({ runs }) => runs)} runs of containers`);
console.log(`faults: ${faults.join(', ')}`);
for (const rule of rules) {
  console.log(`${rule.padEnd(46)} ${sum(({ damage }) => damage.filter((one) => one.rule === rule).length)}`);
}
console.log(`kept by the runtime until it starts again: ${sum(({ keptByRuntime }) => keptByRuntime)}`);
process.exitCode = sum(({ damage }) => damage.length) === 0 ? 0 : 1;
