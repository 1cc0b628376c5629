import { entryPointSizes, tarballSize } from './entry-point-sizes.ts';

const title = '## Sizes';
/** A size may differ by this share from the one in the report: small changes of code need no new report. */
const tolerance = 0.05;

/** 1,234 bytes are `1.2 KB`. */
function inKilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} KB`;
}

/** The last section of the API report: the sizes of the tarball and of each entry point. */
export async function sizesSection(packageFolder: string): Promise<string> {
  const tarball = await tarballSize(packageFolder);
  const entryPoints = await entryPointSizes(packageFolder);
  return [
    `${title}\n`,
    `The tarball: ${inKilobytes(tarball.packed)} (${inKilobytes(tarball.unpacked)} unpacked, ${tarball.files} files).\n`,
    'Each entry point by itself, minified and gzipped: what it imports of this package, and the same with the packages of',
    '`dependencies`. The test takes differences of up to 5 %. `npm run entry-points` also shows how long an import takes.\n',
    '| entry point | files | this package | with its dependencies |',
    '|---|---|---|---|',
    ...entryPoints.map(
      ({ entryPoint, files, own, withDependencies }) =>
        `| \`${entryPoint}\` | ${files} | ${inKilobytes(own)} | ${inKilobytes(withDependencies)} |`,
    ),
    '',
  ].join('\n');
}

/** The report without its sizes, and these. */
export function splitReport(report: string): { readonly api: string; readonly sizes: string } {
  const at = report.lastIndexOf(title);
  return at < 0 ? { api: report, sizes: '' } : { api: report.slice(0, at), sizes: report.slice(at) };
}

const numbers = /\b\d+(?:\.\d+)?\b/g;

/** True when two sections say the same in words, and each number of one is near that of the other. */
export function sizesAgree(one: string, other: string): boolean {
  if (one.replace(numbers, '#') !== other.replace(numbers, '#')) return false;
  const numbersOf = (text: string): number[] => (text.match(numbers) ?? []).map(Number);
  const others = numbersOf(other);
  return numbersOf(one).every((number, index) => {
    const counterpart = others[index] ?? Number.NaN;
    // a file more or less of a small entry point is more than the tolerance, and no news
    return Math.abs(number - counterpart) <= Math.max(tolerance * Math.max(number, counterpart), 2);
  });
}
