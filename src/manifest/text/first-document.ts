/** A document marker stands at the start of a line, whatever is open. */
const marker = /^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm;
/** Comments, directives and blank lines. */
const prologue = /^\uFEFF?(?:[ \t]*(?:#.*)?(?:\r\n|\r|\n)|%.*(?:\r\n|\r|\n))*$/;

/**
 * The text up to the end of the first YAML document: what follows is not read, so that it may be anything.
 * Behaviour of go.yaml.in/yaml/v2 Unmarshal, v2.4.3.
 */
export function firstDocument(text: string): string {
  let begun = false;
  for (const { 0: found, index } of text.matchAll(marker)) {
    if (!begun && found === '---' && prologue.test(text.slice(0, index))) begun = true;
    else return text.slice(0, index);
  }
  return text;
}
