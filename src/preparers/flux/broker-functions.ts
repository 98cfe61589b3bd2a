import { FLUX } from './names.ts';

const PORT_IN_HEX = FLUX.port.toString(16).toUpperCase();

/**
 * Functions of the start script that run a broker, pass signals on to the program, and end a broker whose lead is gone. They
 * follow what Flux was seen to do: see the table of docs/hpc.md.
 */
export const BROKER_FUNCTIONS = `child=
stopped=
heard=
leading=
watching=
forward() {
  heard=yes
  # A second signal goes to the broker itself.
  if [ -n "$stopped" ] || [ -z "$child" ]; then
    [ -z "$child" ] || kill -s TERM "$child" 2>/dev/null || :
  else
    leave "$child" &
  fi
  stopped=yes
}

# Whether a part of the program runs on this Pod: Flux starts its processes by flux-shell.
working() {
  local file name
  for file in "$root"/proc/[0-9]*/comm; do
    read -r name 2>/dev/null <"$file" || continue
    [ "$name" != flux-shell ] || return 0
  done
  return 1
}

# Tells TERM to the processes of the program on all Pods, once for all Pods; fails where none runs.
tell() {
  local said job
  local -x FLUX_URI="local://$run/local"
  job=$(flux job last 2>/dev/null) || job=
  [ -z "$job" ] || ! flux kvs get "muster.told.$job" >/dev/null 2>&1 || return 0
  said=$(flux job killall -f -s TERM 2>&1) || return 1
  [[ $said != *' 0 jobs'* ]] || return 1
  [ -z "$job" ] || flux kvs put "muster.told.$job=1" >/dev/null 2>&1 || :
}

# Flux would end the program with HUP at once: so the program hears TERM and has its time, and then the broker ends.
leave() {
  if [ -n "$leading" ]; then
    ! tell || return 0
  elif working; then
    # Where all Pods are told to end, the lead is the one who says it.
    sleep 1
    tell || :
    while working && kill -s 0 "$1" 2>/dev/null; do sleep 1; done
    # The lead, whose program has ended now, ends this broker too; told so twice, it would not end well.
    local left=10
    while [ "$left" -gt 0 ] && kill -s 0 "$1" 2>/dev/null; do
      left=$((left - 1))
      sleep 1
    done
  fi
  kill -s TERM "$1" 2>/dev/null || :
}

# Whatever the image has for a stop signal. What runs beside a script does not hear INT and QUIT: all are told TERM.
trap forward TERM INT QUIT HUP

# Whether the broker has a connection to the lead's, by the kernel's tables: a port in hexadecimal, and 01 for open.
connected() {
  local table remote status
  for table in "$root"/proc/net/tcp "$root"/proc/net/tcp6; do
    [ -r "$table" ] || continue
    while read -r _ _ remote status _; do
      case $remote:$status in *:${PORT_IN_HEX}:01) return 0 ;; esac
    done <"$table"
  done
  return 1
}

# A broker looks for the lead's without end: it is told to end where there has been none for so long. A lead that never was
# may still be at its image, and has four times as long.
watch_lead() {
  local missed=0 limit
  while sleep "\${delay}s" && kill -s 0 "$1" 2>/dev/null; do
    missed=$((missed + 1))
    if connected; then missed=0 && : >"$met"; fi
    limit=$retries
    [ -e "$met" ] || limit=$((retries * 4))
    [ "$missed" -ge "$limit" ] || continue
    printf '%s' $((limit * delay)) >"$gone"
    kill -s TERM "$1" 2>/dev/null || :
    # One that is still starting may not hear it.
    sleep "\${delay}s"
    kill -s KILL "$1" 2>/dev/null || :
    return
  done
}

# Runs a command that hears the signals of the Pod, and leaves its exit code in rc.
attend() {
  "$@" <&0 &
  child=$!
  watcher=
  if [ -n "$watching" ]; then
    watch_lead "$child" </dev/null >/dev/null 2>&1 &
    watcher=$!
  fi
  # One that came in between.
  [ -z "$stopped" ] || kill -s TERM "$child" 2>/dev/null || :
  while :; do
    heard=
    rc=0
    # What bash says of a broker that was killed, this script says itself where it is watched.
    if [ -n "$watcher" ]; then wait "$child" 2>/dev/null || rc=$?; else wait "$child" || rc=$?; fi
    [ -n "$heard" ] || break
  done
  child=
  [ -z "$watcher" ] || kill "$watcher" 2>/dev/null || :
}

`;
