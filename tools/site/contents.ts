/** One group of the navigation. */
export interface Section {
  readonly title: string;
  /** Paths from the repository's folder, in reading order. A folder stands for a page of its own with what is in it below. */
  readonly documents: readonly string[];
  /** True: the reference of the entry points stands before this group. */
  readonly entryPointsBefore?: boolean;
}

/** The page that the site opens with. */
export const home = 'docs/guides/index.md';

const guides = (...names: readonly string[]): string[] => names.map((name) => `docs/guides/${name}.md`);

/** The table of contents. The build fails for a document below docs that is not named here, and for a name without a document. */
export const sections: readonly Section[] = [
  {
    title: 'Guides',
    documents: guides(
      'first-agent',
      'embed-the-status-manager',
      'node-agent',
      'scheduler',
      'static-pods',
      'deletion',
      'restarts',
      'many-nodes',
      'testing',
      'rights',
      'logs-and-errors',
      'debug',
    ),
  },
  {
    title: 'Coming from',
    documents: guides(
      'from-informer-and-patch',
      'coming-from-virtual-kubelet',
      'coming-from-client-node',
      'coming-from-kubernetes-fluent-client',
      'coming-from-controller-runtime',
    ),
  },
  {
    title: 'Reference',
    entryPointsBefore: true,
    documents: ['docs/errors.md', 'docs/metrics.md', 'docs/glossary.md', 'examples'],
  },
  {
    title: 'How it works',
    documents: [
      'ARCHITECTURE.md',
      'docs/divergences',
      'docs/connections.md',
      'docs/reliability.md',
      'docs/limits.md',
      'docs/performance.md',
      'docs/decisions',
    ],
  },
  { title: 'Project', documents: ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'] },
];
