import type { ProfilePlugins } from '../../../src/scheduler/framework/plugin.ts';
import { inTreePlugins } from '../../../src/scheduler/profile/plugin-registry.ts';
import { profilePlugins } from '../../../src/scheduler/profile/profile-plugins.ts';
import { bareHandle } from '../../support/framework-context.ts';

/** The default profile. Its plugins are asked for hints and gates only. */
export function queueProfile(schedulerName: string): ProfilePlugins {
  return profilePlugins('profile', { schedulerName }, inTreePlugins(), bareHandle());
}
