import { errorText } from '../../base/errors.ts';
import { ExtenderError } from '../extenders/extender-error.ts';
import { FitError } from '../framework/fit-error.ts';
import { helpForPlugin, PluginError } from '../framework/plugin-error.ts';
import { type FailureWords, givenUp } from '../reports/last-attempts.ts';
import { helpForFailedPlugin, kindOfNowhere } from '../reports/plugin-help.ts';
import { isApiFailure, wordsOfRequest } from '../reports/request-words.ts';
import { NoNodesError } from './algorithm.ts';
import { BindingGivenUp, BindingPreempted } from './binding-cycles.ts';

/** Of this plugin every profile has its bindings, unless somebody has taken it out: its errors are those of the client. */
const binder = 'DefaultBinder';

/**
 * What the error of an attempt means to people. `nodeName`: the node that the pod had by then.
 */
export function wordsOfAttempt(error: unknown, nodeName: string | undefined): FailureWords {
  if (error instanceof BindingGivenUp) return { kind: givenUp, message: error.message, help: undefined };
  if (error instanceof FitError) return wordsOfFit(error, nodeName);
  if (error instanceof NoNodesError) {
    const help = 'Add a node: the scheduler knows of none, so see whether an agent has registered one.';
    return { kind: 'no-nodes', message: `no node fits: ${error.message}`, help };
  }
  if (error instanceof BindingPreempted)
    return { kind: 'preempted', message: `the pod lost its place on ${nodeName}: ${error.message}`, help: undefined };
  if (error instanceof ExtenderError) return wordsOfExtender(error);
  if (error instanceof PluginError) return wordsOfPlugin(error, nodeName);
  const what = nodeName === undefined ? 'the pod could not be placed' : `the pod could not be bound to the node ${nodeName}`;
  return { kind: 'scheduling-failed', message: `${what}: ${errorText(error)}`, help: undefined };
}

function wordsOfExtender({ message, extender }: ExtenderError): FailureWords {
  const help = `See whether the extender ${extender} runs and answers: it is asked again at the next attempt. One that is \`ignorable\` holds up no pod.`;
  return { kind: 'extender-failed', message, help };
}

function wordsOfFit({ message, diagnosis }: FitError, nodeName: string | undefined): FailureWords {
  // its help is worked out from the diagnosis when somebody asks
  if (nodeName === undefined) return { kind: kindOfNowhere(diagnosis), message: `no node fits: ${message}`, help: undefined };
  const { plugin = '', reasons = [] } = diagnosis.failures.get(nodeName) ?? {};
  return {
    kind: 'refused-node',
    message: `the plugin ${plugin} did not let the pod have the node ${nodeName}: ${reasons.join(', ')}`,
    help: `See what the plugin ${plugin} waits for, or why it refuses.`,
  };
}

function wordsOfPlugin({ plugin, extensionPoint, cause, message }: PluginError, nodeName: string | undefined): FailureWords {
  if (extensionPoint === 'bind' && cause !== undefined && (plugin === binder || isApiFailure(cause)))
    return wordsOfRequest(`the pod could not be bound to the node ${nodeName}`, cause);
  return { kind: 'plugin-failed', message, help: helpForFailedPlugin(plugin, extensionPoint, message) ?? helpForPlugin(plugin) };
}
