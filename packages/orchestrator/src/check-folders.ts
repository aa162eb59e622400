import { openDataFolder } from './data-folder.ts';
import type { Log } from './log.ts';
import type { Settings } from './settings.ts';
import { missingRoots } from './workspace-root.ts';

/**
 * Sees at the start of a process that its data folder takes writes, and warns of folders for workspaces that are not
 * there (yet: they may be mounted later). Errors: as for {@link openDataFolder}.
 */
export async function checkFolders(
  { dataDir, workspaceRoots }: Pick<Settings, 'dataDir' | 'workspaceRoots'>,
  log: Log,
): Promise<void> {
  await openDataFolder(dataDir);
  const missing = await missingRoots(workspaceRoots);
  if (missing.length > 0)
    log.warn({ missing }, 'CREWBOARD_WORKSPACES names folders that do not exist: no job can work in them');
}
