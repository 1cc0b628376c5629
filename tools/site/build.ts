import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  Application,
  ConsoleLogger,
  Converter,
  type DocumentReflection,
  type IndexEvent,
  LogLevel,
  type PageEvent,
  Renderer,
} from 'typedoc';
import { entryPoints } from '../../test/structure/rooms.ts';
import { reachable } from './reachable.ts';
import { routerOf } from './router.ts';
import { prepareSearch } from './search.ts';
import { completeExamples } from './server-examples.ts';
import { type Page, stage } from './stage.ts';
import { type Site, themeOf } from './theme.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'tools/site/.pages');
const out = join(root, 'tools/site/dist');

const staged = stage(root, folder);
const pages = new Map<string, Page>(staged.pages.map((page) => [join(folder, page.path), page]));
const documents = new Map<number, Page>();
const site: Site = { staged, pageOf: (id) => documents.get(id) };

const app = await Application.bootstrap({
  name: 'pod-status-manager',
  entryPoints: entryPoints.map((name) => join(root, `src/${name}.ts`)),
  tsconfig: join(root, 'tools/tsconfig.build.json'),
  readme: join(folder, staged.home.path),
  projectDocuments: staged.pages.filter((page) => page !== staged.home).map(({ path }) => join(folder, path)),
  out,
  router: 'site',
  theme: 'site',
  customCss: join(root, 'tools/site/style.css'),
  favicon: join(root, 'tools/site/favicon.svg'),
  disableSources: true,
  excludeExternals: true,
  includeVersion: true,
  includeHierarchySummary: false,
  hideGenerator: true,
  searchInComments: true,
  searchInDocuments: true,
  sort: ['kind', 'source-order'],
  kindSortOrder: [
    'Document',
    'Module',
    'Class',
    'Function',
    'Variable',
    'Interface',
    'TypeAlias',
    'Constructor',
    'Property',
    'Accessor',
    'Method',
  ],
  headings: { readme: false, document: false },
  navigation: { includeGroups: false, includeCategories: false, includeFolders: false, excludeReferences: true },
  groupOrder: ['Classes', 'Functions', 'Variables', 'Interfaces', 'Type Aliases'],
  visibilityFilters: {},
  useFirstParagraphOfCommentAsSummary: true,
  sortEntryPoints: false,
  lightHighlightTheme: 'github-light-high-contrast',
  darkHighlightTheme: 'github-dark-high-contrast',
  highlightLanguages: ['ts', 'js', 'json', 'yaml', 'sh', 'shell', 'bash', 'diff', 'go', 'text'],
  // objectType only carries the type of a resource's objects; the others are parts of types, and have no use of their own
  intentionallyNotExported: ['objectType', 'ContainerStatus', 'ProvidedPod', 'Written'],
  validation: { notExported: true, invalidLink: true, invalidPath: true, notDocumented: false },
});
app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_: unknown, document: DocumentReflection) => {
  const page = pages.get(document.project.files.getReflectionPath(document) ?? '');
  if (page === undefined) return;
  document.name = page.title;
  documents.set(document.id, page);
});
app.renderer.on(Renderer.EVENT_END_PAGE, (page: PageEvent) => {
  if (page.contents !== undefined) page.contents = reachable(page.contents);
});
app.renderer.on(Renderer.EVENT_PREPARE_INDEX, (event: IndexEvent) => prepareSearch(event, site));
app.renderer.defineRouter('site', routerOf(site));
app.renderer.defineTheme('site', themeOf(site));

// `--warnings-to FILE` is for the tests, which show the warnings themselves.
const [flag, warningsFile] = process.argv.slice(2);
if (flag !== undefined && (flag !== '--warnings-to' || warningsFile === undefined)) {
  throw new Error(`usage: node tools/site/build.ts [--warnings-to FILE], not ${process.argv.slice(2).join(' ')}`);
}
const warnings: string[] = [];
class KeepingLogger extends ConsoleLogger {
  override log(message: string, level: Exclude<LogLevel, LogLevel.None>): void {
    if (level >= LogLevel.Warn) warnings.push(message);
    super.log(message, level);
  }
}
app.logger = new KeepingLogger();

const project = await app.convert();
if (project === undefined) throw new Error('TypeDoc could not read the sources: see above');
completeExamples(project);
app.validate(project);
await app.generateOutputs(project);
await app.generateJson(project, join(root, 'tools/site/.pages/reference.json'));
for (const problem of staged.problems) app.logger.warn(problem);
if (warningsFile === undefined) process.exitCode = warnings.length > 0 ? 1 : 0;
else writeFileSync(join(root, warningsFile), JSON.stringify(warnings));
