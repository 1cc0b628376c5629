// npm run bench:manifests [-- --only kubelet|ours --manifests 10000 --seconds 180]
// A node whose folder of static pods has far more of them than the node takes: the kubelet and our node agent in turn.
import { parseArgs } from 'node:util';
import { Kit } from '../test/support/kit.ts';
import { type Agent, agents, commandOf, namesOfAgents, pauseImage } from './node-agent/agents.ts';
import { runInKit } from './node-agent/compare.ts';
import type { ManifestsOutput } from './node-agent/manifests-script.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    manifests: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '180' },
  },
});

async function measure(agent: Agent): Promise<ManifestsOutput> {
  await using kit = await Kit.start();
  const { manifests, seconds } = values;
  const args = { command: commandOf(agent, kit.run), log: `${kit.run}/log/agent.log`, image: pauseImage };
  const folder = `${kit.run}/manifests`;
  return await runInKit<ManifestsOutput>(kit, 'manifests-script.ts', { ...args, folder, manifests, seconds });
}

const rows = [];
for (const agent of agents.filter((each) => values.only === undefined || values.only === each)) {
  rows.push({ name: namesOfAgents[agent], ...(await measure(agent)) });
}
console.table(rows);
