import { invalidOption } from '../../base/errors.ts';
import type { ProfileMaker } from '../classic/policy-profile.ts';
import { Framework, type FrameworkContext } from '../framework/framework.ts';
import { inTreePlugins, type PluginRegistry } from './plugin-registry.ts';
import type { ProfileOptions } from './profile-options.ts';
import { profilePlugins } from './profile-plugins.ts';

/** The frameworks of the profiles, by the name of their scheduler. */
export type Frameworks = ReadonlyMap<string, Framework>;

/**
 * Makes a framework of each profile. Without profiles there is one, with the default plugins. Throws ERR_INVALID_OPTION for
 * what is no profile or no plugin, and for two profiles of one name.
 */
export function createFrameworks(
  context: FrameworkContext,
  profiles: readonly (ProfileOptions | ProfileMaker)[] = [{}],
  registry: PluginRegistry = inTreePlugins(),
): Frameworks {
  if (!Array.isArray(profiles) || profiles.length === 0)
    throw invalidOption('profiles', 'a list of at least one profile', profiles);
  const frameworks = new Map<string, Framework>();
  for (const [index, profile] of profiles.entries()) {
    const path = `profiles[${index}]`;
    const framework = new Framework(context, (handle) =>
      typeof profile === 'function' ? profile(handle) : profilePlugins(path, profile, registry, handle),
    );
    const { schedulerName } = framework;
    if (frameworks.has(schedulerName)) {
      throw invalidOption(`${path}.schedulerName`, 'another name than that of the profiles before', schedulerName);
    }
    frameworks.set(schedulerName, framework);
  }
  return frameworks;
}
