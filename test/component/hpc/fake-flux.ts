/**
 * A Flux of which only the surface is real: the commands and options that the scripts may use, checked one by one, and
 * what becomes of exit codes and signals. An unknown option is exit code 64, as nothing in a test expects it.
 *
 * Brokers that share a folder, FAKE_GANG, know each other by it: a follower joins once the lead's broker is there, ends
 * well when that one does, and with 1 when it is lost or, FAKE_PATIENCE looks later, not there again. The lead begins
 * its program when as many have joined as it is to run on.
 */
export const FAKE_FLUX = `#!/bin/bash
set -euo pipefail
{ printf '<%s>' "$@"; printf '\\n'; } >>"$FAKE_LOG"
bad() { printf 'fake flux: %s\\n' "$*" >&2; exit 64; }

# The configuration directory, which every broker reads as a whole.
configured() {
  [ "$(ls "$1")" = broker.toml ] || bad "configuration: $(ls "$1")"
  [ "$(grep -c '^\\[bootstrap\\]$' "$1/broker.toml")" = 1 ] || bad 'not one bootstrap table'
  local path
  for path in curve_cert path; do
    path=$(sed -n "s/^$path = \\"\\(.*\\)\\"$/\\1/p" "$1/broker.toml")
    [ -f "$path" ] || bad "$path is missing"
  done
  path=$(sed -n 's/^curve_cert = "\\(.*\\)"$/\\1/p' "$1/broker.toml")
  [ "$(stat -c %a "$path")" = 600 ] || bad "$path: readable by group/other"
  [ -O "$path" ] || bad "$path: of somebody else"
}

attribute() {
  case $1 in
    -Scron.directory=/*|-Sstatedir=/*) [ -d "\${1#*=}" ] || bad "$1: no directory" ;;
    -Srundir=/*) [ -O "\${1#*=}" ] || bad "$1: of somebody else" ;;
    -Slocal-uri=local:///*|-Slog-stderr-mode=local|-Stbon.connect_timeout=5s) ;;
    -Slog-stderr-level=[0-7]) ;;
    -Sbroker.quorum=[1-9]*) ;;
    *) bad "attribute $1" ;;
  esac
}

# With the command "flux run -N <brokers> …".
lead() {
  rm -f "$FAKE_GANG/ended"
  echo $$ >"$FAKE_GANG/lead.new"
  mv -f "$FAKE_GANG/lead.new" "$FAKE_GANG/lead"
  while [ -d "$FAKE_GANG" ] && ! [ "$(find "$FAKE_GANG/joined" -type f | wc -l)" -ge $(($4 - 1)) ]; do /bin/sleep 0.02; done
  local rc=0
  "$@" || rc=$?
  : >"$FAKE_GANG/ended"
  exit "$rc"
}
alive() { [ -f "$FAKE_GANG/lead" ] && kill -0 "$(cat "$FAKE_GANG/lead")" 2>/dev/null; }
follower() {
  local looks=0 own="$FAKE_GANG/joined/$FAKE_HOST" joined
  trap 'rm -f "$own"; exit 0' TERM
  until alive; do
    [ -d "$FAKE_GANG" ] || exit 1
    [ ! -f "$FAKE_GANG/lead" ] || looks=$((looks + 1))
    [ "$looks" -lt "\${FAKE_PATIENCE:-3000}" ] || exit 1
    echo 'no lead'
    /bin/sleep 0.02
  done
  joined=$(cat "$FAKE_GANG/lead")
  : >"$own"
  echo 'joined'
  while [ -d "$FAKE_GANG" ] && kill -0 "$joined" 2>/dev/null; do /bin/sleep 0.02; done
  rm -f "$own"
  [ -e "$FAKE_GANG/ended" ] || exit 1
  exit 0
}

command=$1
shift
case $command in
  R)
    [ "$1" = encode ] || bad "R $1"
    shift
    for option; do
      [[ $option =~ ^--(hosts=[a-z0-9,-]+(\\[0-9+-\\])?.*|cores=[0-9]+(-[0-9]+)?|gpus=[0-9]+(-[0-9]+)?)$ ]] || bad "R encode $option"
    done
    printf '{"encoded":"%s"}\\n' "$*"
    ;;
  start | broker)
    if [ "$command" = start ]; then
      [ "$1 $2" = '-o --config' ] || bad "start $1 $2"
      shift 2
    else
      [ "$1" = --config-path ] || bad "broker $1"
      shift
    fi
    configured "$1"
    shift
    while [ $# -gt 0 ] && [ "\${1#-}" != "$1" ]; do attribute "$1"; shift; done
    if [ -n "\${FAKE_GANG:-}" ]; then
      if [ $# -gt 0 ]; then lead "$@"; else follower; fi
    fi
    # Becomes the program of rank 0, whose exit code is that of the broker; without one it waits to be told to end.
    [ $# -eq 0 ] || exec "$@"
    if [ -n "\${FAKE_BROKER_EXIT:-}" ]; then exit "$FAKE_BROKER_EXIT"; fi
    trap 'exit 0' TERM
    echo 'broker is up'
    while :; do /bin/sleep 0.02; done
    ;;
  run)
    [ "$1" = -N ] && [[ $2 =~ ^[1-9][0-9]*$ ]] || bad "run $1 $2"
    [ "$3" = -n ] && [[ $4 =~ ^[1-9][0-9]*$ ]] || bad "run $3 $4"
    shift 4
    if [ "$1" = -g ]; then shift 2; fi
    exec "$@"
    ;;
  *) bad "$command" ;;
esac
`;
