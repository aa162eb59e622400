/** The ID by which a process signals all of its group: npm and the shell that run a command, with it. */
export const WHOLE_GROUP = 0;

/** A terminal taken and given back, any number of times. */
export interface Hold {
  take(): void;
  giveBack(): void;
}

/** Stopping this process (as by Ctrl-Z) and going on (as by `fg`). */
export interface Stops {
  /** Stops all processes of the command; returns when they go on. */
  stop(): void;
  /** Gives the signals back to their default. */
  release(): void;
}

/**
 * Gives the terminal back before this process is stopped, and takes it again when it goes on, then calls `onGoOn`; until
 * released.
 */
export function listenForStops(hold: Hold, onGoOn: () => void): Stops {
  function goOn() {
    hold.take();
    onGoOn();
  }
  function stopAs(target: number) {
    // Before anybody is stopped: once the shell has the terminal, setting its mode would stop this process once more.
    hold.giveBack();
    process.off('SIGTSTP', onStop);
    // Without a listener this stops the process here, until it is told to go on. Where no shell could tell it so, the
    // system lets it run.
    process.kill(target, 'SIGTSTP');
    process.on('SIGTSTP', onStop);
    goOn();
  }
  const onStop = () => stopAs(process.pid);
  process.on('SIGTSTP', onStop);
  // Also after a SIGSTOP, of which nobody is told: others have written on the terminal, and set its mode.
  process.on('SIGCONT', goOn);
  return {
    stop: () => stopAs(WHOLE_GROUP),
    release() {
      process.off('SIGTSTP', onStop);
      process.off('SIGCONT', goOn);
    },
  };
}
