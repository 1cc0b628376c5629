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
    documents: [
      ...guides(
        'first-agent',
        'embed-the-status-manager',
        'node-agent',
        'scheduler',
        'static-pods',
        'deletion',
        'restarts',
        'many-nodes',
        'fleets',
        'testing',
        'rights',
        'logs-and-errors',
        'debug',
      ),
      'docs/when-something-is-wrong.md',
    ],
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
      'docs/kubelet-configuration.md',
      'docs/limits.md',
      'docs/performance.md',
      'docs/decisions',
    ],
  },
  { title: 'Project', documents: ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'] },
];

/** Words that people type for a page and that its headings do not have. The search puts these pages first. */
export const searchWords: Readonly<Record<string, string>> = {
  'docs/guides/embed-the-status-manager.md': 'my pod is stuck, status not updated, Pending for ever',
  'docs/guides/deletion.md': 'pod is stuck in Terminating, delete, does not go away',
  'docs/guides/restarts.md': 'restart, crash, kill, SIGTERM, upgrade',
  'docs/guides/node-agent.md': 'kubectl logs, kubectl exec, attach, port-forward, top',
  'docs/guides/rights.md': '401, 403, forbidden, unauthorized, RBAC, permission denied',
  'docs/guides/logs-and-errors.md': '403, forbidden, exception, pino, winston, logger',
  'docs/when-something-is-wrong.md': 'stuck, slow, hangs, error, 401, 403, 404, 409, 422, 429, 500, 503, timeout, refused',
};
