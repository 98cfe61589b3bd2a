import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Kills what a process started when that process dies, however it dies.
 *
 * Handlers of `exit` and of signals are not enough: SIGKILL calls none (Jest ends a stuck worker that way), and inside
 * Jest `process` is a copy whose `exit` event never fires. The watchdog is a shell that reads our end of a pipe; the
 * kernel closes the pipe when we are gone.
 */
export interface Watchdog {
  /** Watches a process group, given by its leader (a child spawned with `detached: true`). */
  add(leader: number): void;
  /** Forgets a leader that has ended: its number may soon belong to somebody else. */
  remove(leader: number): void;
  /** Ends the watchdog without killing anything more. */
  dismiss(): Promise<void>;
}

const SCRIPT = `
leaders=' '
while read -r what leader; do
  case "$what" in
    add) leaders="$leaders$leader " ;;
    remove) case "$leaders" in *" $leader "*) leaders="\${leaders%% $leader *} \${leaders#* $leader }" ;; esac ;;
    dismiss) exit 0 ;;
  esac
done
for leader in $leaders; do kill -9 "-$leader" 2>/dev/null; done
[ -z "$1" ] || rm -rf -- "$1"
`;

/** @param folder removed too when the parent dies; it must belong to this run alone. */
export function startWatchdog(folder?: string): Watchdog {
  // Detached: Ctrl-C in a terminal goes to the whole foreground group and must not take the watchdog first.
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'muster-watchdog', folder ?? ''], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  // A program that forgets its control plane may still end by itself.
  shell.unref();
  const tell = (line: string): void => {
    if (shell.stdin.writable) shell.stdin.write(`${line}\n`);
  };
  return {
    add: (leader) => {
      tell(`add ${leader}`);
    },
    remove: (leader) => {
      tell(`remove ${leader}`);
    },
    dismiss: async () => {
      if (shell.exitCode !== null || shell.signalCode !== null) return;
      shell.ref();
      const ended = once(shell, 'exit');
      tell('dismiss');
      shell.stdin.end();
      await ended;
    },
  };
}
