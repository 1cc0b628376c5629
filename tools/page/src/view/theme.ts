export type Theme = 'as the system' | 'light' | 'dark';

const themes: readonly Theme[] = ['as the system', 'light', 'dark'];
const storageKey = 'pod-status-manager.theme';

export function theme(): Theme {
  return themes.find((one) => one === document.documentElement.dataset.theme) ?? 'as the system';
}

/** Goes to the next theme, and keeps it where the browser lets a page keep something. */
export function nextTheme(): void {
  const next = themes[(themes.indexOf(theme()) + 1) % themes.length] ?? 'as the system';
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem(storageKey, next);
  } catch {
    // Without storage the theme lasts as long as the page.
  }
  dispatchEvent(new Event('resize'));
}

/** Takes the theme that was chosen on the last visit. */
export function restoreTheme(): void {
  try {
    document.documentElement.dataset.theme = localStorage.getItem(storageKey) ?? '';
  } catch {
    // Without storage: as the system.
  }
}
