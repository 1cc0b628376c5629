import { parseArgs } from 'node:util';
import { exemptions } from './replay/exemptions.ts';
import { exemptShare, type FileResult, runFile } from './replay/run-file.ts';
import { variants } from './replay/variants.ts';

const usage = `Usage: npm run conformance -- FILE... [--show N]
  Replays recorded scenarios and table cases (.jsonl or .jsonl.gz) through the public API, with and without a GET before
  each patch, in both patch formats. Exits 1 on a difference, 2 on bad usage.
  --show N   how many differences are printed in full (default 5)`;

function print(name: string, file: string, result: FileResult, show: number): void {
  const { scenarios, steps, pairs, tables, differences, tableDifferences } = result;
  const share = (exemptShare(result) * 100).toFixed(2);
  const found = differences.length + tableDifferences.length;
  console.log(`${file} (${name})`);
  console.log(
    `  ${scenarios} scenarios, ${steps} steps, ${pairs} (step, pod) pairs, ${tables} table cases, ${found} differences`,
  );
  console.log(`  ${share} % of the pairs exempt`);
  for (const [rule, count] of [...result.exempt].sort())
    console.log(`    ${String(count).padStart(6)}  ${rule}: ${exemptions[rule]}`);
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

async function main(): Promise<number> {
  const options = { show: { type: 'string', default: '5' }, help: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const show = Number(values.show);
  if (values.help || positionals.length === 0 || !Number.isInteger(show) || show < 0) {
    console.error(usage);
    return values.help ? 0 : 2;
  }
  let found = 0;
  for (const file of positionals) {
    for (const { name, exemptAtMost: _, ...variant } of variants) {
      const result = await runFile(file, variant);
      print(name, file, result, show);
      found += result.differences.length + result.tableDifferences.length;
    }
  }
  return found === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
