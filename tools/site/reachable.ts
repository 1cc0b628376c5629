/**
 * The page with what a keyboard and a screen reader need beyond what TypeDoc makes: no link inside the line that opens and
 * closes a group, and tables that a keyboard can scroll.
 */
export function reachable(html: string): string {
  return html
    .replace(/<summary\b[\s\S]*?<\/summary>/g, (summary) =>
      summary.replace(/<a [^>]*class="tsd-anchor-icon"[^>]*>[\s\S]*?<\/a>/g, ''),
    )
    .replaceAll('<table>', '<table tabindex="0">');
}
