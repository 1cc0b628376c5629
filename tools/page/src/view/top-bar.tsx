import type { VNode } from 'preact';
import type { DebugNode } from '../../../../src/observe/debug/debug-api.ts';
import type { Model } from '../model/model.ts';
import { age, counted } from '../text/format.ts';
import { ConnectionPill } from './connection-pill.tsx';
import { openHelp } from './help-dialog.tsx';
import { togglePause } from './keys.ts';
import { nextTheme, theme } from './theme.ts';

export function TopBar({ model }: { readonly model: Model }): VNode {
  const { node, scheduler, fleet, ownProblems } = model.summary ?? {};
  const name = node?.name ?? (model.isFleetShown ? fleet?.name : undefined);
  const isPaused = model.connection.kind === 'paused';
  return (
    <header class="top-bar">
      <h1>
        <span class="product">pod status manager</span>
        {name === undefined ? null : <span class="node-name">{name}</span>}
      </h1>
      {node === undefined ? null : (
        <PartPill
          href={model.addressOf({ part: 'node' })}
          isWell={node.ready ?? (node.state === 'running' && node.hasListed !== false)}
          words={nodeState(node, model.now())}
          problemCount={ownProblems?.node}
        />
      )}
      {scheduler === undefined ? null : (
        <PartPill
          href={model.addressOf({ part: 'scheduler' })}
          isWell={scheduler.state === 'running'}
          words={`scheduler ${scheduler.state}`}
          problemCount={ownProblems?.scheduler}
        />
      )}
      {fleet === undefined ? null : (
        <PartPill
          href={model.addressOf({ part: 'fleet' })}
          isWell={fleet.state === 'running'}
          words={`fleet ${fleet.state}, ${counted('member', fleet.members)}`}
          problemCount={ownProblems?.fleet}
        />
      )}
      {model.isFleetShown && model.hasPods ? (
        <a class="pill tone-idle" href={model.addressOf({})}>
          pods
        </a>
      ) : null}
      <span class="spring" />
      <ConnectionPill model={model} />
      <button type="button" class="quiet" aria-keyshortcuts="p" onClick={() => togglePause(model)}>
        {isPaused ? 'Resume' : 'Pause'}
      </button>
      <button
        type="button"
        class="quiet"
        onClick={nextTheme}
        aria-label={`Theme: ${theme()}. Change`}
        title={`Theme: ${theme()}`}
      >
        <span class="theme-icon" aria-hidden="true" />
      </button>
      <button type="button" class="quiet" aria-label="Help" aria-keyshortcuts="?" onClick={openHelp}>
        ?
      </button>
    </header>
  );
}

/** An agent that reports no node is never ready nor not ready. */
function nodeState({ ready, heardAt, state, hasListed }: DebugNode, now: number): string {
  if (ready === undefined && hasListed === false) return 'pods not listed';
  const words = ready === undefined ? `agent ${state}` : ready ? 'node ready' : 'node not ready';
  return heardAt === undefined ? words : `${words} (heard: ${age(heardAt, now)})`;
}

interface PartPillProps {
  readonly href: string;
  readonly isWell: boolean;
  readonly words: string;
  /** Those of pods are not counted: their rows have them. */
  readonly problemCount: number | undefined;
}

/** How a part is, as a link to its panel: green only where nothing is wrong. */
function PartPill({ href, isWell, words, problemCount = 0 }: PartPillProps): VNode {
  const tone = isWell ? (problemCount > 0 ? 'late' : 'good') : 'bad';
  return (
    <a class={`pill tone-${tone}`} href={href}>
      {words}
      {problemCount > 0 ? <span class="problems">{`, ${counted('problem', problemCount)}`}</span> : null}
    </a>
  );
}
