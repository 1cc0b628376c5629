import { render } from 'preact';
import { openStream, readFleet, readFleetNode, readPart, readPod } from './browser-stream.ts';
import { Model } from './model/model.ts';
import { App } from './view/app.tsx';
import { openHelp } from './view/help-dialog.tsx';
import { watchKeys } from './view/keys.ts';
import { showInTab } from './view/tab.ts';
import { restoreTheme } from './view/theme.ts';

restoreTheme();
const root = document.getElementById('app') ?? document.body;
let isDue = false;

/** Draws at most once a frame, however often something changes. */
function draw(): void {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    render(<App model={model} />, root);
    showInTab(model);
  });
}

const model = new Model({
  openStream,
  readPod,
  readPart,
  readFleet,
  readFleetNode,
  setTimer: (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
  now: () => Date.now(),
  onChange: draw,
  onView: (address, isStep) => {
    const url = address === '' ? location.pathname + location.search : `#${address}`;
    if (isStep) history.pushState(undefined, '', url);
    else history.replaceState(undefined, '', url);
  },
});

addEventListener('popstate', () => model.visit(location.hash));
addEventListener('hashchange', () => model.visit(location.hash));
addEventListener('online', () => model.hurry());
addEventListener('resize', draw);
document.addEventListener('visibilitychange', () => model.hurry());
watchKeys(model, openHelp);
// Ages grow though nothing happens.
setInterval(() => model.tick(), 1000);
model.start(location.hash);
