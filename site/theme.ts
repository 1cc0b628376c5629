import { DefaultTheme, type NavigationElement, type ProjectReflection, ReflectionKind } from 'typedoc';
import type { Page, Staged } from './stage.ts';

/** What the theme and the router have to know of the documents. */
export interface Site {
  readonly staged: Staged;
  /** The page that a document of TypeDoc was made from. */
  readonly pageOf: (documentId: number) => Page | undefined;
}

/** TypeDoc's theme with the navigation of site/contents.ts: the documents by section, then the reference by door. */
export function themeOf(site: Site): typeof DefaultTheme {
  return class SiteTheme extends DefaultTheme {
    override buildNavigation(project: ProjectReflection): NavigationElement[] {
      const paths = new Map(
        (project.documents ?? []).map((document) => [site.pageOf(document.id)?.path, this.router.getFullUrl(document)]),
      );
      const element = ({ title, path, children }: Page): NavigationElement => ({
        text: title,
        path: paths.get(path) ?? 'index.html',
        kind: ReflectionKind.Document,
        ...(children.length > 0 ? { children: children.map(element) } : {}),
      });
      const doors = super.buildNavigation(project).filter(({ kind }) => kind === ReflectionKind.Module);
      const [guides, ...others] = site.staged.sections.map(({ title, pages }) => ({ text: title, children: pages.map(element) }));
      const start = { text: site.staged.home.title, path: 'index.html', kind: ReflectionKind.Document };
      const sections = [guides, { text: 'API by door', children: doors }, ...others].filter(
        (section) => section !== undefined && section.children.length > 0,
      );
      return [start, ...sections.filter((section) => section !== undefined)];
    }
  };
}
