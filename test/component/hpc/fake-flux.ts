/**
 * A Flux of which only the surface is real: the commands and options that the scripts may use, checked one by one, and
 * what becomes of exit codes and signals. An unknown option is exit code 64, as nothing in a test expects it.
 *
 * Whatever its brokers say of themselves, such as "joined", is for tests to wait by: the real ones are silent.
 *
 * Brokers that share a folder, FAKE_GANG, know each other by it: a follower joins once the lead's broker is there, and
 * ends well when that one does. Without a lead it looks for one, for ever, as the real one does. The lead begins its
 * program when as many have joined as it is to run on. What it is held to is in test/support/observed-flux.ts.
 */
export const FAKE_FLUX = `#!/bin/bash
set -euo pipefail
{ printf '<%s>' "$@"; printf '\\n'; } >>"$FAKE_LOG"
shared=\${FAKE_GANG:-$MUSTER_FLUX_ROOT/log}
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
    -Sbroker.quorum=[1-9]*|-Sbroker.rc2_none=1) ;;
    *) bad "attribute $1" ;;
  esac
}

# What may be executed in rc1.d, on every broker once it has joined.
started() {
  local script
  for script in "\${FLUX_RC_EXTRA:-/nowhere}"/rc1.d/*; do [ ! -x "$script" ] || "$script"; done
}
# With the command "flux run -N <brokers> …".
lead() {
  rm -f "$FAKE_GANG/ended"
  echo $$ >"$FAKE_GANG/lead.new"
  mv -f "$FAKE_GANG/lead.new" "$FAKE_GANG/lead"
  started
  while [ -d "$FAKE_GANG" ] && ! [ "$(find "$FAKE_GANG/joined" -type f | wc -l)" -ge $(($4 - 1)) ]; do /bin/sleep 0.02; done
  local rc=0
  program "$@" || rc=$?
  : >"$FAKE_GANG/ended"
  exit "$rc"
}
program() {
  local rc told=
  # Before the program begins: a test that has heard of it sends signals.
  trap 'told=yes; kill -s HUP $!' TERM
  "$@" &
  while :; do
    rc=0
    wait $! || rc=$?
    [ -n "$told" ] || break
    told=
  done
  return "$rc"
}
alive() { [ -f "$FAKE_GANG/lead" ] && kill -0 "$(cat "$FAKE_GANG/lead")" 2>/dev/null; }
# The kernel's table of connections: one to port 8050 that is open, or none.
connection() {
  mkdir -p "$MUSTER_FLUX_ROOT/proc/net"
  { echo '  sl  local_address rem_address   st'; [ -z "$1" ] || echo "   0: 0A000002:D431 0A000001:1F72 $1 0"; } >"$MUSTER_FLUX_ROOT/proc/net/tcp"
}
follower() {
  local own="$FAKE_GANG/joined/$FAKE_HOST" shell="$MUSTER_FLUX_ROOT/proc/77" joined
  while :; do
    trap 'exit 1' TERM
    until alive; do
      connection 02
      [ -d "$FAKE_GANG" ] || exit 1
      echo 'no lead'
      /bin/sleep 0.02
    done
    joined=$(cat "$FAKE_GANG/lead")
    trap 'rm -f "$own"; exit 0' TERM
    started
    : >"$own"
    connection 01
    echo 'joined'
    while [ -d "$FAKE_GANG" ] && kill -0 "$joined" 2>/dev/null; do
      # Where a part of the program runs here, the kernel knows of its shell.
      if [ -n "\${FAKE_WORKS:-}" ] && [ -f "$shared/program" ] && ! [ -e "$shell/comm" ]; then
        mkdir -p "$shell"
        echo flux-shell >"$shell/comm"
        echo works
      fi
      /bin/sleep 0.02
    done
    # Told to end it says goodbye to the lead first, for a minute.
    trap '' TERM
    rm -rf "$own" "$shell"
    [ ! -e "$FAKE_GANG/ended" ] || exit 0
    # Looks on for the lead; the next one, which does not know it, tells it to end.
    connection 02
    until alive; do
      [ -d "$FAKE_GANG" ] || exit 1
      echo 'no lead'
      /bin/sleep 0.02
    done
    exit 1
  done
}

# PMIx needs its plugin, which a file of Lua may load, and is left out without a word where there is none.
plugged() {
  local file plugin
  for file in "\${FLUX_SHELL_RC_PATH:-/nowhere}"/*.lua; do
    [ -f "$file" ] || continue
    plugin=$(sed -n 's/^plugin.load { file = "\\(.*\\)" }$/\\1/p' "$file")
    [ ! -f "$plugin" ] || export PMIX_RANK=0
  done
}

command=$1
shift
case $command in
  R)
    if [ "$*" = append ]; then
      [ "$(wc -l)" -gt 1 ] || bad 'R append of one'
      printf '{"appended":true}\n'
      exit
    fi
    [ "$1" = encode ] || bad "R $1"
    shift
    for option; do
      [[ $option =~ ^--(ranks=[0-9]+(-[0-9]+)?|hosts=[a-z0-9,-]+(\\[[0-9+-]+\\])?|cores=[0-9]+(-[0-9]+)?|gpus=[0-9]+(-[0-9]+)?)$ ]] || bad "R encode $option"
    done
    printf '{"encoded":"%s"}\n' "$*"
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
    none=
    while [ $# -gt 0 ] && [ "\${1#-}" != "$1" ]; do
      attribute "$1"
      [ "$1" != -Sbroker.rc2_none=1 ] || none=yes
      shift
    done
    if [ -n "\${FAKE_GANG:-}" ]; then
      if [ $# -gt 0 ]; then lead "$@"; else follower; fi
    fi
    started
    # Runs the program of rank 0, whose exit code is that of the broker. Told to end, it ends the program with HUP.
    if [ $# -gt 0 ]; then
      rc=0
      program "$@" || rc=$?
      exit "$rc"
    fi
    if [ -n "\${FAKE_BROKER_EXIT:-}" ]; then exit "$FAKE_BROKER_EXIT"; fi
    # Without one, and where it was not told that there is none, it starts a shell, which needs a terminal.
    if [ "$command" = broker ] && [ -z "$none" ]; then
      echo "broker.crit[0]: stdin is not a tty - can't run interactive shell" >&2
      exit 1
    fi
    connection 01
    trap 'exit 0' TERM
    echo 'broker is up'
    while :; do /bin/sleep 0.02; done
    ;;
  run)
    [ "$1" = -N ] && [[ $2 =~ ^[1-9][0-9]*$ ]] || bad "run $1 $2"
    shift 2
    if [[ $1 =~ ^--tasks-per-node=[1-9][0-9]*$ ]]; then
      [ "$2" = --exclusive ] || bad "run $1 $2"
      shift 2
    elif [ "$1" = -n ] && [[ $2 =~ ^[1-9][0-9]*$ ]] && [ "$3" = --exclusive ]; then
      shift 3
    else
      [ "$1" = -n ] && [[ $2 =~ ^[1-9][0-9]*$ ]] && [ "$3" = -c ] && [[ $4 =~ ^[1-9][0-9]*$ ]] || bad "run $*"
      shift 4
      if [ "$1" = -g ]; then shift 2; fi
    fi
    while [ "$1" = -o ]; do
      [[ $2 =~ ^((cpu|gpu)-affinity=(per-task|on|off)|pmi=pmix)$ ]] || bad "run -o $2"
      [ "$2" != pmi=pmix ] || plugged
      shift 2
    done
    while [ "\${1#--env=}" != "$1" ]; do
      rule=\${1#--env=}
      case $rule in
        -*) unset "\${rule#-}" ;;
        *=*) export "\${rule%%=*}=$(printf '%s' "\${rule#*=}" | sed 's/[$][$]/$/g')" ;;
        *) bad "run $1" ;;
      esac
      shift
    done
    # What stands in double braces is filled in, in every word.
    words=()
    for word; do words+=("\${word//'{{id}}'/ƒ1}"); done
    echo $$ >"$shared/program"
    exec "\${words[@]}"
    ;;
  kvs)
    case "$1 $2" in
      'get muster.told.'*) [ -e "$shared/kvs-$2" ] || exit 1 ;;
      'put muster.told.'*=1) : >"$shared/kvs-\${2%=1}" ;;
      *) bad "kvs $*" ;;
    esac
    ;;
  job)
    [[ \${FLUX_URI:-} = local:///* ]] || bad "no URI: $FLUX_URI"
    if [ "$*" = last ]; then
      [ -f "$shared/program" ] || exit 1
      cat "$shared/program"
      exit
    fi
    [ "$*" = 'killall -f -s TERM' ] || bad "job $*"
    if [ -f "$shared/program" ] && kill -s TERM "$(cat "$shared/program")" 2>/dev/null; then
      echo 'flux-job: Terminated 1 jobs (0 errors)' >&2
    else
      echo 'flux-job: Command matched 0 jobs' >&2
    fi
    ;;
  *) bad "$command" ;;
esac
`;
