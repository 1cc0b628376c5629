import { type Reflection, StructureRouter } from 'typedoc';
import type { Site } from './theme.ts';

/** Pages named after what they show: `guides/first-agent.html`, `api/reflector/Reflector.html`. */
export function routerOf(site: Site): typeof StructureRouter {
  return class SiteRouter extends StructureRouter {
    protected override getIdealBaseName(reflection: Reflection): string {
      const page = reflection.isDocument() ? site.pageOf(reflection.id) : undefined;
      if (page !== undefined)
        return page.path
          .replace(/\.md$/, '')
          .replace(/^docs\/(?=\w+\/)/, '')
          .replace(/\.(?=\w+$)/, '-');
      const [first = '', ...rest] = super.getIdealBaseName(reflection).split('/');
      return ['api', ...(first === 'pod-status-manager' ? rest : [first, ...rest])].join('/').replace(/^api$/, 'api/index');
    }
  };
}
