import type { VNode } from 'preact';
import type { Model } from '../model/model.ts';
import { Charts } from './charts.tsx';
import { FilterBar } from './filter-bar.tsx';
import { FleetNodePanel } from './fleet-node-panel.tsx';
import { FleetView } from './fleet-view.tsx';
import { HelpDialog } from './help-dialog.tsx';
import { Notices } from './notices.tsx';
import { PartPanel } from './part-panel.tsx';
import { PodPanel } from './pod-panel.tsx';
import { PodTable } from './pod-table.tsx';
import { Summary } from './summary.tsx';
import { TopBar } from './top-bar.tsx';

export interface AppProps {
  readonly model: Model;
}

/** On a phone the panel covers the rest, which then cannot be reached by the keyboard or a screen reader either. */
const narrow = matchMedia('(max-width: 760px)');

export function App({ model }: AppProps): VNode {
  const { openPod, openPart, hasPanel } = model;
  const { openNode } = model.fleet;
  const isCovered = hasPanel && narrow.matches;
  return (
    <div class={hasPanel ? 'app with-panel' : 'app'}>
      <div class="everything" inert={isCovered}>
        <TopBar model={model} />
        <main>
          <Notices model={model} />
          {model.isFleetShown ? (
            <FleetView model={model} isNarrow={narrow.matches} />
          ) : (
            <>
              <Summary model={model} />
              <Charts model={model} isFolded={narrow.matches} />
              <FilterBar model={model} />
              <PodTable model={model} isNarrow={narrow.matches} />
            </>
          )}
        </main>
      </div>
      {openPod === undefined ? null : <PodPanel key={openPod.key} model={model} state={openPod} />}
      {openPart === undefined ? null : <PartPanel key={openPart.key} model={model} state={openPart} />}
      {openNode === undefined ? null : <FleetNodePanel key={openNode.key} model={model} state={openNode} />}
      <HelpDialog />
    </div>
  );
}
