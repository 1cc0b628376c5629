import { DefaultTheme, type NavigationElement, type ProjectReflection, ReflectionKind } from 'typedoc';
import type { Page, Staged } from './stage.ts';

/** What the theme and the router have to know of the documents. */
export interface Site {
  readonly staged: Staged;
  /** The page that a document of TypeDoc was made from. */
  readonly pageOf: (documentId: number) => Page | undefined;
}

/** A heading in the navigation is an element that leads nowhere; the style sheet makes it look like one. */
const under = (text: string, elements: readonly NavigationElement[]): NavigationElement[] =>
  elements.length === 0 ? [] : [{ text }, ...elements];

/** What opens and closes must not be a link, for screen readers: the page of an element with others below it is the first of these. */
function folded({ text, path, kind, children = [] }: NavigationElement): NavigationElement {
  const own = path === undefined ? {} : { path };
  if (children.length === 0) return { text, ...own };
  return { text, ...(kind === undefined ? {} : { kind }), children: [{ text: 'Overview', ...own }, ...children] };
}

/** TypeDoc's theme with the navigation of tools/site/contents.ts: documents by section, and between them the reference by entry point. */
export function themeOf(site: Site): typeof DefaultTheme {
  return class SiteTheme extends DefaultTheme {
    override buildNavigation(project: ProjectReflection): NavigationElement[] {
      const { home, sections } = site.staged;
      const paths = new Map(
        (project.documents ?? []).map((document) => [site.pageOf(document.id)?.path, this.router.getFullUrl(document)]),
      );
      const element = ({ title, path, children }: Page): NavigationElement =>
        folded({ text: title, path: paths.get(path) ?? 'index.html', children: children.map(element) });
      const entryPoints = super
        .buildNavigation(project)
        .filter(({ kind }) => kind === ReflectionKind.Module)
        .map((entryPoint) => folded({ ...entryPoint, text: entryPoint.text.replace(/^pod-status-manager\//, '') }));
      return [
        { text: home.title, path: 'index.html' },
        ...sections.flatMap(({ title, pages, entryPointsBefore }) => [
          ...(entryPointsBefore === true ? under('API by entry point', entryPoints) : []),
          ...under(title, pages.map(element)),
        ]),
      ];
    }
  };
}
