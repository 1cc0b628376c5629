// npm run bench:agent [-- --rounds 1 --only kubelet|ours --singles 20 --burst 30 --many 100]
// Measures the kubelet and our node agent in turn, each in a fresh kit (test/peers/node-kit): latency, requests, processor, memory.
import { parseArgs } from 'node:util';
import { type Agent, agents, namesOfAgents } from './node-agent/agents.ts';
import { barsOf } from './node-agent/bars.ts';
import { compareAgents } from './node-agent/compare.ts';
import { machine, printBars, writeResult } from './support/results.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '1' },
    only: { type: 'string' },
    singles: { type: 'string', default: '20' },
    burst: { type: 'string', default: '30' },
    many: { type: 'string', default: '100' },
  },
});
const size = { singles: Number(values.singles), burst: Number(values.burst), many: Number(values.many) };
const rounds = Number(values.rounds);
const chosen = agents.filter((agent) => values.only === undefined || values.only === agent);

const runs = await compareAgents(chosen, size, rounds);
console.table(
  chosen.map((agent) => {
    const { requests, memoryMiB, restCpuSecondsAMinute, ...rest } = runs[agent] ?? fail(agent);
    const memory = Object.entries(memoryMiB).map(([pods, value]) => [`MiB, ${pods} pods`, value]);
    const cpu = Object.entries(restCpuSecondsAMinute).map(([pods, value]) => [`CPU s/min, ${pods} pods`, value]);
    return { name: namesOfAgents[agent], ...rest, ...Object.fromEntries([...memory, ...cpu]) };
  }),
);
for (const agent of chosen) console.log(namesOfAgents[agent], JSON.stringify(runs[agent]?.requests.kinds));

const { kubelet, ours } = runs;
if (kubelet !== undefined && ours !== undefined) {
  const bars = barsOf(ours, kubelet, size.many);
  const result = { command: 'npm run bench:agent', rounds, machine: machine(), ...size, runs, bars };
  await writeResult('node-agent.json', JSON.stringify(result, undefined, 2));
  printBars(bars);
}

function fail(agent: Agent): never {
  throw new Error(`${agent} was not measured`);
}
