import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { churn, flood, manyManagers, type PhaseResult, steadyLoad } from './phases.ts';

const options = { scale: { type: 'string', default: '1' }, help: { type: 'boolean' } } as const;
const { values } = parseArgs({ options });
const scale = Number(values.scale);
if (values.help || !(scale > 0 && scale <= 1)) {
  console.error(`Usage: npm run test:load -- [--scale S]
  10,000 pods and 1,000,000 updates, 100,000 uids, 100 managers, a flood; S (0 to 1) scales all of it down.
  Exits 1 when a pod is out of step or the heap has grown by more than a tenth (and 5 MB) after warm-up.`);
  process.exit(values.help ? 0 : 2);
}

const of = (full: number): number => Math.max(10, Math.round(full * scale));
const delay = monitorEventLoopDelay({ resolution: 5 });
let failed = false;

function report(result: PhaseResult): void {
  const { name, updates, requests, seconds, heapWarmMB, heapEndMB, outOfStep } = result;
  const grown = heapEndMB > heapWarmMB * 1.1 + 5;
  failed ||= grown || outOfStep > 0;
  console.log(
    `${name}: ${seconds.toFixed(1)} s, ${Math.round(updates / seconds)} updates a second, ${requests} requests, ` +
      `heap ${heapWarmMB.toFixed(1)} -> ${heapEndMB.toFixed(1)} MB${grown ? ' (GROWN)' : ''}, out of step ${outOfStep}`,
  );
}

delay.enable();
for (const phase of [
  () => steadyLoad(of(10_000), of(1_000_000)),
  () => churn(of(100_000), of(1000)),
  () => manyManagers(of(100), 20, 20),
  () => flood(of(1_000_000)),
]) {
  delay.reset();
  report(await phase());
  console.log(
    `  event loop delay: p50 ${(delay.percentile(50) / 1e6).toFixed(1)} ms, p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms`,
  );
}
delay.disable();
process.exitCode = failed ? 1 : 0;
