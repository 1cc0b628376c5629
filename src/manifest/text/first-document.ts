import { ManifestFault } from './invalid-manifest.ts';

/** A document marker stands at the start of a line, whatever is open. */
const marker = /^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm;
/** Comments, directives and blank lines. */
const prologue = /^\uFEFF?(?:[ \t]*(?:#.*)?(?:\r\n|\r|\n)|%.*(?:\r\n|\r|\n))*$/;
const directive = /^%.*$/gm;
const knownDirective = /^%(?:YAML[ \t]+1\.1|TAG[ \t].*?)[ \t]*(?:#.*)?\r?$/;

/**
 * The text up to the end of the first YAML document: what follows is not read, so that it may be anything.
 * Throws a fault for directives that the reader does not know. Behaviour of go.yaml.in/yaml/v2 Unmarshal, v2.4.3.
 */
export function firstDocument(text: string): string {
  let begun = false;
  for (const { 0: found, index } of text.matchAll(marker)) {
    const before = text.slice(0, index);
    if (begun || found !== '---' || !prologue.test(before)) return before;
    begun = true;
    const strange = before.match(directive)?.find((line) => !knownDirective.test(line));
    if (strange !== undefined) throw new ManifestFault('', 'free of directives but those of YAML 1.1', strange);
  }
  return text;
}
