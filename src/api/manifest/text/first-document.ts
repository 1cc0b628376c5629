import { ManifestFault } from './invalid-manifest.ts';

/** A document marker stands at the start of a line, whatever is open. */
const marker = /^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm;
const filledLine = /[^\r\n]+/g;
/** Blank, or a comment alone. */
const idleLine = /^[ \t]*(?:#|$)/;
const knownDirective = /^%(?:YAML[ \t]+1\.1[ \t]*(?:#|$)|TAG[ \t])/;

/**
 * The text up to the end of the first YAML document: what follows is not read, so that it may be anything.
 * Throws a fault for directives that the reader does not know. Behaviour of go.yaml.in/yaml/v2 Unmarshal, v2.4.3.
 */
export function firstDocument(text: string): string {
  let begun = false;
  for (const { 0: found, index } of text.matchAll(marker)) {
    if (begun || found !== '---') return text.slice(0, index);
    const directives = directivesBefore(text, index);
    if (directives === undefined) return text.slice(0, index);
    begun = true;
    const strange = directives.find((line) => !knownDirective.test(line));
    if (strange !== undefined) throw new ManifestFault('', 'free of directives but those of YAML 1.1', strange);
  }
  return text;
}

/** The directives in front of the marker; undefined where there is more than directives, comments and blank lines. */
function directivesBefore(text: string, end: number): string[] | undefined {
  const directives: string[] = [];
  // line by line: one expression over all lines can take for ever
  for (const [line] of text.slice(text.startsWith('\uFEFF') ? 1 : 0, end).matchAll(filledLine)) {
    if (line.startsWith('%')) directives.push(line);
    else if (!idleLine.test(line)) return undefined;
  }
  return directives;
}
