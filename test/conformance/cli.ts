import { parseArgs } from 'node:util';
import { kinds } from './kinds/kinds.ts';
import { agrees as hasAgreed, type KindResult, runKind } from './kinds/run-kind.ts';
import { type Excess, excesses } from './replay/ceilings.ts';
import { type Cases, CasesError, readCases } from './replay/read-cases.ts';
import { type Rule, rules } from './replay/replay-rules.ts';
import { type FileResult, runCases } from './replay/run-file.ts';
import { variants } from './replay/variants.ts';

const usage = `Usage: npm run conformance -- FILE... [--show N]
  Replays recorded cases (.jsonl or .jsonl.gz) through the public API: scenarios and table cases of the status manager, with
  and without a GET before each patch, in both patch formats; and the cases that name their kind. Exits 1 on a difference,
  or when a rule excuses more than its ceiling allows; 2 on bad usage and for a file that cannot be read.
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

function printKind(file: string, result: KindResult, show: number): void {
  const { kind, cases, differences, exempt, exemptCases, exemptAtMost } = result;
  console.log(`${file} (${kind})`);
  console.log(`  ${cases} cases, ${differences.length} differences`);
  console.log(`  ${share(exemptCases, cases)} % of the cases exempt in something`);
  for (const [rule, count] of exempt) console.log(`    ${String(count).padStart(6)}  ${rule}`);
  if (exemptCases > exemptAtMost) {
    console.log(`  too much is exempt: rules excuse something of ${exemptCases} cases, at most ${exemptAtMost} are allowed`);
  }
  for (const { name, says } of differences.slice(0, show)) {
    console.log(`  case ${name}`);
    for (const line of says) console.log(`    ${line}`);
  }
}

/** True when the file agrees: the status manager's cases in every variant, and each kind. */
async function replay(file: string, cases: Cases, show: number): Promise<boolean> {
  let agrees = true;
  for (const [kind, ofKind] of cases.byKind) {
    const player = kinds.get(kind);
    if (player === undefined) throw new CasesError(`unknown kind ${kind}`);
    const result = await runKind(kind, player, ofKind);
    printKind(file, result, show);
    agrees &&= hasAgreed(result);
  }
  if (cases.scenarios.length + cases.tables.length === 0) return agrees;
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
