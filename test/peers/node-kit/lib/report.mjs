// Reads a ginkgo JSON report.  report.mjs FILE --names | report.mjs FILE OUT_DIR SECONDS
import fs from 'node:fs';
import path from 'node:path';

const [file, out, seconds] = process.argv.slice(2);
const specs = JSON.parse(fs.readFileSync(file, 'utf8'))
  .flatMap((s) => s.SpecReports)
  .filter((s) => s.LeafNodeType === 'It');
const name = (s) => [...(s.ContainerHierarchyTexts ?? []), s.LeafNodeText].join(' ');
if (out === '--names') {
  for (const s of specs) if (!['skipped', 'pending'].includes(s.State)) console.log(name(s));
} else {
  const ran = specs.filter((s) => s.State !== 'pending' && !(s.State === 'skipped' && !s.Failure?.Message));
  const passed = ran.filter((s) => s.State === 'passed');
  const skipped = ran.filter((s) => s.State === 'skipped');
  const failed = ran.filter((s) => !['passed', 'skipped'].includes(s.State));
  const lines = (list, f) =>
    list
      .map(f)
      .sort()
      .map((l) => `${l}\n`)
      .join('');
  fs.writeFileSync(path.join(out, 'passed.txt'), lines(passed, name));
  const why = (s) =>
    `${name(s)}\t${(s.Failure?.Message ?? '').split('\n').slice(0, 12).join(' ').replace(/\s+/g, ' ').slice(0, 400)}`;
  fs.writeFileSync(path.join(out, 'failed.txt'), lines(failed, why));
  fs.writeFileSync(path.join(out, 'skipped.txt'), lines(skipped, why));
  fs.writeFileSync(
    path.join(out, 'times.tsv'),
    lines(ran, (s) => `${name(s)}\t${s.State}\t${(s.RunTime / 1e9).toFixed(1)}`),
  );
  const sum = ran.reduce((a, s) => a + s.RunTime, 0) / 1e9;
  for (const s of failed) console.log(`FAILED ${why(s)}`);
  console.log(`${passed.length} passed, ${failed.length} failed, ${skipped.length} skipped`);
  console.log(`wall ${seconds} s, sum of the tests' own times ${sum.toFixed(0)} s`);
}
