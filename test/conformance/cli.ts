import { parseArgs } from 'node:util';
import { type Excess, excesses } from './replay/ceilings.ts';
import { type Cases, CasesError, readCases } from './replay/read-cases.ts';
import { type Rule, rules } from './replay/rules.ts';
import { type FileResult, runCases } from './replay/run-file.ts';
import { variants } from './replay/variants.ts';

const usage = `Usage: npm run conformance -- FILE... [--show N]
  Replays recorded scenarios and table cases (.jsonl or .jsonl.gz) through the public API, with and without a GET before
  each patch, in both patch formats. Exits 1 on a difference, or when a rule excuses more than its ceiling allows; 2 on bad
  usage and for a file that cannot be read.
  --show N   how many differences are printed in full (default 5)`;

function print(name: string, file: string, result: FileResult, over: readonly Excess[], show: number): void {
  const { scenarios, steps, pairs, tables, differences, tableDifferences, exemptPairs } = result;
  const found = differences.length + tableDifferences.length;
  console.log(`${file} (${name})`);
  console.log(
    `  ${scenarios} scenarios, ${steps} steps, ${pairs} (step, pod) pairs, ${tables} table cases, ${found} differences`,
  );
  console.log(`  ${share(exemptPairs, pairs)} % of the pairs exempt in something`);
  for (const [rule, says] of Object.entries(rules)) {
    const count = result.exempt.get(rule as Rule);
    if (count !== undefined) console.log(`    ${String(count).padStart(6)}  ${rule}: ${says}`);
  }
  for (const { rule, pairs: count, atMost } of over) {
    console.log(
      `  too much is exempt: ${rule === 'all' ? 'all rules together' : rule} in ${count} pairs, at most ${atMost} are allowed`,
    );
  }
  for (const { scenario, step, op, pod, aspects } of differences.slice(0, show)) {
    console.log(`  scenario ${scenario}, step ${step} (${op}), pod ${pod}`);
    for (const { aspect, expected, got } of aspects) {
      console.log(`    ${aspect}\n      expected ${JSON.stringify(expected)}\n      got      ${JSON.stringify(got)}`);
    }
  }
  for (const { case: index, fn, expected, got } of tableDifferences.slice(0, show)) {
    console.log(
      `  table case ${index} (${fn})\n      expected ${JSON.stringify(expected)}\n      got      ${JSON.stringify(got)}`,
    );
  }
}

function share(part: number, whole: number): string {
  return (whole === 0 ? 0 : (part / whole) * 100).toFixed(2);
}

/** True when the file agrees in every variant. */
async function replay(file: string, cases: Cases, show: number): Promise<boolean> {
  let agrees = true;
  for (const variant of variants) {
    const { name, ceilings, fetchBeforePatch, patchFormat } = variant;
    const result = await runCases(cases, { fetchBeforePatch, patchFormat });
    const over = excesses(ceilings, result);
    print(name, file, result, over, show);
    agrees &&= result.differences.length + result.tableDifferences.length + over.length === 0;
  }
  return agrees;
}

async function main(): Promise<number> {
  const options = { show: { type: 'string', default: '5' }, help: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const show = Number(values.show);
  if (values.help || positionals.length === 0 || !Number.isInteger(show) || show < 0) {
    console.error(usage);
    return values.help ? 0 : 2;
  }
  // every file is read before the first is played: a mistake in the last one need not wait for the others
  const files = positionals.map((file) => ({ file, cases: readCases(file) }));
  let agrees = true;
  for (const { file, cases } of files) agrees = (await replay(file, cases, show)) && agrees;
  return agrees ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof CasesError || !(error instanceof Error) ? String(error) : error.message);
  process.exitCode = 2;
}
