/** The first cells of the rows of all tables of a document, heads included, without the lines below the heads. */
export function firstCells(markdown: string): string[] {
  return [...markdown.matchAll(/^\|[ ]*([^|]*?)[ ]*\|(?=.*\|$)/gm)]
    .map(([, cell = '']) => cell)
    .filter((cell) => !/^:?-+:?$/.test(cell));
}
