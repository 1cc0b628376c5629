import type { IndexEvent } from 'typedoc';
import { searchWords } from './contents.ts';
import { headingsOf } from './markdown.ts';
import type { Site } from './theme.ts';

/** Files of numbers, which a document links to: whoever searches for a word of them wants the document. */
const withoutResults = /^bench\/results\//;
/** The guides, and the documents beside them. */
const forReaders = /^docs\/(?:guides\/)?[\w-]+\.md$/;
/**
 * A name weighs 10. These fields are empty in all rows but those of documents, and a long field counts less, measured by the average
 * of all rows: so these numbers are large. With them a page whose heading has the word comes near a name that has it as a part, and a
 * word of `searchWords` comes before that.
 */
const weights = { headings: 400, words: 4000 };

/**
 * What the search finds beside names, comments and texts: the headings of documents, and the words of `searchWords`, by which people
 * look for a page that calls it otherwise. Of the rows that TypeDoc has prepared those of measurements go.
 */
export function prepareSearch(event: IndexEvent, { pageOf }: Site): void {
  Object.assign(event.searchFieldWeights, weights);
  for (let index = event.searchResults.length - 1; index >= 0; index -= 1) {
    const reflection = event.searchResults[index];
    const page = reflection?.isDocument() ? pageOf(reflection.id) : undefined;
    if (page === undefined || !reflection?.isDocument()) continue;
    const fields = event.searchFields[index];
    if (withoutResults.test(page.path)) event.removeResult(index);
    else if (fields !== undefined) {
      if (forReaders.test(page.path)) fields.headings = headingsOf(reflection.content.map(({ text }) => text).join(''));
      fields.words = searchWords[page.path] ?? '';
    }
  }
}
