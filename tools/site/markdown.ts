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
