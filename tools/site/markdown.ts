/** The parts of a Markdown text, in order: code fences, and what is between them. */
function parts(markdown: string): { readonly text: string; readonly fence: boolean }[] {
  const pieces = markdown.split(/^(```[\s\S]*?^```[ \t]*$)/m);
  return pieces.map((text, index) => ({ text, fence: index % 2 === 1 }));
}

/** The text of the first heading, without the marks of code and emphasis. */
export function titleOf(markdown: string, fallback: string): string {
  const heading = parts(markdown)
    .filter(({ fence }) => !fence)
    .map(({ text }) => text.match(/^# (.+)$/m)?.[1])
    .find((found) => found !== undefined);
  return heading?.replace(/[`*]/g, '').trim() ?? fallback;
}

/** The texts of all headings, without the marks of code and emphasis. */
export function headingsOf(markdown: string): string {
  const prose = parts(markdown).filter(({ fence }) => !fence);
  const headings = prose.flatMap(({ text }) => [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading));
  return headings.map((heading) => heading.replace(/[`*]/g, '').trim()).join('\n');
}

/** Puts `change(target)` in the place of every relative link's target, links of images included. */
export function withLinks(markdown: string, change: (target: string) => string): string {
  const link = /(`[^`\n]*`)|(\]\()(?![a-z]+:|#)([^)\s]+)(?=[)\s])/g;
  return parts(markdown)
    .map(({ text, fence }) =>
      fence
        ? text
        : text.replace(link, (whole, code?: string, open?: string, target?: string) =>
            code !== undefined || target === undefined ? whole : `${open}${change(target)}`,
          ),
    )
    .join('');
}

/**
 * Makes "the reference of `PodSyncPhase`" a link to it, for TypeDoc, which warns of a name that the main entry point lacks. Elsewhere
 * such a document has no page of the reference to link to.
 */
export function withReferences(markdown: string): string {
  return parts(markdown)
    .map(({ text, fence }) =>
      fence ? text : text.replace(/(\breference of )`(\w+)`/g, '$1{@link pod-status-manager!$2 | `$2`}'),
    )
    .join('');
}

/** Leaves only the language in the first line of a fence: the other words are for the tests that run it. */
export function withPlainFences(markdown: string): string {
  return parts(markdown)
    .map(({ text, fence }) => (fence ? text.replace(/^```(\w+)[^\n]*/, '```$1') : text))
    .join('');
}

/** A page that shows a file. */
export function filePage(path: string, text: string): string {
  const language = { ts: 'ts', yaml: 'yaml', yml: 'yaml', json: 'json', sh: 'sh' }[path.split('.').pop() ?? ''] ?? 'text';
  return `# ${path}\n\n\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\n`;
}
