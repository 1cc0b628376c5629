// npm run bench:page [-- --pods 10000 --rate 1000 --seconds 20 --rounds 3]
// What the page of the debug handler needs in Chromium: the time to the first table, memory, and the length of frames while so
// many changes a second come in from a real status manager.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { page as html } from '../src/observe/debug/page/page.ts';
import { launchChromium } from '../test/real/browser/support/launch-chromium.ts';
import { openPage } from '../test/real/browser/support/open-page.ts';
import { requireChromium } from '../test/real/browser/support/require-chromium.ts';
import { type Frames, heapMB, probe, timeToFirstTable, watchFrames } from './page/measure.ts';
import { machine, printBars, writeResult } from './support/results.ts';
import { median, rounded } from './support/statistics.ts';

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '3' },
  },
});
const [pods, rate, seconds, rounds] = [values.pods, values.rate, values.seconds, values.rounds].map(Number) as [
  number,
  number,
  number,
  number,
];

interface Round {
  readonly firstTableMs: number;
  readonly heapMB: number;
  readonly quiet: Frames;
  readonly updating: Frames;
  /** After the updates. */
  readonly heapAfterMB: number;
}

function startServer(): ChildProcess {
  const script = fileURLToPath(new URL('page/server.ts', import.meta.url));
  return spawn(process.execPath, [script, String(pods)], { stdio: ['pipe', 'pipe', 'inherit'] });
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('The server has no output');
  for await (const line of createInterface(stdout)) return line;
  throw new Error('The server has ended');
}

/** One visit of the page in a new browser. */
async function visit(url: string, setRate: (changesASecond: number) => void): Promise<Round> {
  const browser = await launchChromium(await requireChromium(), ['--enable-precise-memory-info']);
  try {
    await using opened = await openPage(browser, { url: 'about:blank', reach: url, script: probe });
    const { page, context, problems } = opened;
    const cdp = await context.newCDPSession(page);
    await cdp.send('Performance.enable');
    await page.goto(url);
    const firstTableMs = await timeToFirstTable(page);
    const rows = await page.getByRole('grid').getAttribute('aria-rowcount');
    if (rows !== String(pods + 1)) throw new Error(`The table has ${rows} rows, not ${pods + 1}`);
    const heap = await heapMB(cdp);
    const quiet = await watchFrames(page, cdp, seconds / 2);
    setRate(rate);
    await page.waitForTimeout(2_000);
    const updating = await watchFrames(page, cdp, seconds);
    const shown = (await page.locator('.charts .now').innerText()).replace(',', '');
    setRate(0);
    if (Number.parseInt(shown, 10) < rate / 2) throw new Error(`The page shows ${shown}, and ${rate} changes a second were made`);
    const after = await heapMB(cdp);
    if (problems.length > 0) throw new Error(`The page has problems: ${problems.join('; ')}`);
    return { firstTableMs, heapMB: heap, quiet, updating, heapAfterMB: after };
  } finally {
    await browser.close();
  }
}

function medianFrames(all: readonly Frames[]): Frames {
  const keys = ['framesASecond', 'frameP50Ms', 'frameP99Ms', 'longestFrameMs', 'busy', 'longTasks'] as const;
  return Object.fromEntries(keys.map((key) => [key, rounded(median(all.map((frames) => frames[key])))])) as unknown as Frames;
}

const server = startServer();
const measured: Round[] = [];
try {
  const url = await firstLine(server);
  for (let round = 0; round < rounds; round += 1) {
    measured.push(await visit(url, (changesASecond) => server.stdin?.write(`${changesASecond}\n`)));
  }
} finally {
  server.kill();
  await once(server, 'exit');
}
const middle = (key: 'firstTableMs' | 'heapMB' | 'heapAfterMB'): number => rounded(median(measured.map((round) => round[key])));
const result = {
  rounds,
  machine: machine(),
  pods,
  changesASecond: rate,
  pageBytes: Buffer.byteLength(html),
  firstTableMs: middle('firstTableMs'),
  heapMB: middle('heapMB'),
  heapAfterMB: middle('heapAfterMB'),
  quiet: medianFrames(measured.map(({ quiet }) => quiet)),
  updating: medianFrames(measured.map(({ updating }) => updating)),
};
await writeResult('page.json', JSON.stringify(result, undefined, 2));
console.log(result);
printBars([
  { what: `first table of ${pods} pods, ms`, value: result.firstTableMs, atMost: 1500 },
  { what: 'heap of the page after that, MB', value: result.heapMB, atMost: 40 },
  { what: `p50 frame at ${rate} changes a second, ms`, value: result.updating.frameP50Ms, atMost: 17.5 },
  { what: `p99 frame at ${rate} changes a second, ms`, value: result.updating.frameP99Ms, atMost: 67 },
  { what: 'main thread at work, share', value: result.updating.busy, atMost: 0.4 },
]);
