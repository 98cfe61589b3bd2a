import { FLUX } from './names.ts';

/**
 * Runs in the program's container in place of its command, which follows `--` unchanged. On the lead's Pod it runs the
 * program on all Pods and ends with the program's exit code; on every other Pod it runs a broker until the lead's broker
 * ends.
 */
export const ENTRYPOINT_SCRIPT = `#!/bin/bash
# Starts a Flux broker, and on the lead the program. Written by Muster; the same for every gang.
if [ -z "\${BASH_VERSION:-}" ]; then echo 'flux-entrypoint: bash is needed' >&2; exit 2; fi
set -euo pipefail
umask 022

root=\${MUSTER_FLUX_ROOT:-}
settings="$root/etc/flux-config"
flux="$root/mnt/flux"
view="$flux/view"
config="$flux/config/etc/flux/config"
state="$flux/config/var/lib/flux"
run="$flux/config/run/flux"

fail() {
  printf 'flux-entrypoint: %s\\n' "$*" >&2
  exit 2
}

child=
stopped=
heard=
forward() {
  stopped=yes
  heard=yes
  [ -z "$child" ] || kill -s TERM "$child" 2>/dev/null || :
}
# Whatever the image has for a stop signal. What runs beside a script does not hear INT and QUIT: all are told TERM.
trap forward TERM INT QUIT HUP

setting() { cat "$settings/$1" || fail "$settings/$1 cannot be read: the ConfigMap of the gang is missing"; }

[ "\${1:-}" = -- ] || fail 'the command of the program follows after --'
shift
[ -w "$flux" ] || fail "$flux cannot be written: it has to be a volume of the Pod"
[ -e "$flux/flux-operator-done.txt" ] || fail "$flux has no Flux: the init container flux-installer has not run"

hostlist=$(setting hostlist)
hosts=$(setting hosts)
lead=$(setting lead)
quorum=$(setting quorum)
cores=$(setting cores)
tasks=$(setting tasks-per-node)
name=$(hostname 2>/dev/null || printf '%s' "$HOSTNAME")

# What only this Pod knows, and what would send the broker elsewhere if the program's image or Pod had set it.
gpus=\${${FLUX.gpusVariable}:-0}
device=\${FLUX_NETWORK_DEVICE:-}
queue=\${FLUX_QUEUE_POLICY:-}
unset FLUX_VIEW_IMAGE FLUX_NETWORK_DEVICE FLUX_QUEUE_POLICY FLUX_CONF_DIR FLUX_URI
[[ $gpus =~ ^(0|[1-9][0-9]{0,4})$ ]] || fail "MUSTER_FLUX_GPUS is no number: $gpus"
[[ $device =~ ^[A-Za-z0-9_.:-]{0,15}$ ]] || fail "FLUX_NETWORK_DEVICE is no name of a network device: $device"
[[ $queue =~ ^(fcfs|easy|)$ ]] || fail "FLUX_QUEUE_POLICY is neither fcfs nor easy: $queue"
[ $((gpus % tasks)) -eq 0 ] || fail "$gpus GPUs cannot be shared out evenly among $tasks tasks of a Pod"

# After what the image has, so that its own programs win.
export PATH="$PATH:$view/bin"
for packages in "$view"/lib/python3.*/site-packages; do
  [ -d "$packages" ] || continue
  export PYTHONPATH="\${PYTHONPATH:+$PYTHONPATH:}$packages"
done
# Loads Fluxion, the scheduler.
export FLUX_RC_EXTRA="$view/etc/flux/rc1.d"

if [ ! -e "$root/opt/software/.flux-software" ]; then
  mkdir -p "$root/opt/software"
  chmod -R u+rwX "$root/opt/software" 2>/dev/null || :
  cp -Rf "$flux/software/." "$root/opt/software/"
  : >"$root/opt/software/.flux-software"
fi
command -v flux >/dev/null || fail "no flux in $view/bin: the view does not suit this image"

mkdir -p "$config" "$flux/config/etc/flux/system/cron.d" "$flux/config/etc/curve" "$state" "$run"

# Every file is written beside its place and moved there, so that a restart finds a whole one or none.
while IFS= read -r line || [ -n "$line" ]; do
  case $line in
    'default_bind = '*) [ -z "$device" ] || line="default_bind = \\"tcp://$device:%p\\"" ;;
    'queue-policy = '*) [ -z "$queue" ] || line="queue-policy = \\"$queue\\"" ;;
    *' = "/mnt/flux/'*) line="\${line%% = *} = \\"$root\${line#* = \\"}" ;;
  esac
  printf '%s\\n' "$line"
done <"$settings/broker.toml" >"$flux/config/broker.toml.new"
mv -f "$flux/config/broker.toml.new" "$config/broker.toml"

# The broker refuses a certificate that others may read.
curve="$flux/config/etc/curve/curve.cert"
[ -r "$root/curve/curve.cert" ] || fail "$root/curve/curve.cert cannot be read by user $(id -u)"
rm -f "$curve.new"
(umask 077 && cat "$root/curve/curve.cert" >"$curve.new")
mv -f "$curve.new" "$curve"

resources=(--hosts="$hostlist" --cores="$cores")
tasking=(-N "$quorum" -n $((quorum * tasks)))
if [ "$gpus" -gt 0 ]; then
  ids=0
  [ "$gpus" -eq 1 ] || ids="0-$((gpus - 1))"
  resources+=(--gpus="$ids")
  tasking+=(-g $((gpus / tasks)))
fi
flux R encode "\${resources[@]}" >"$flux/config/R.new"
mv -f "$flux/config/R.new" "$flux/config/etc/flux/system/R"

broker=(
  -Scron.directory="$flux/config/etc/flux/system/cron.d"
  -Srundir="$run"
  -Sstatedir="$state"
  -Slocal-uri="local://$run/local"
  -Slog-stderr-level=3
  -Slog-stderr-mode=local
  # A connection that was begun before the name of the lead was known would wait for minutes otherwise.
  -Stbon.connect_timeout=5s
)
# All of them is what Flux waits for anyhow; older ones do not take a number here.
[ "$quorum" -eq "$hosts" ] || broker+=(-Sbroker.quorum="$quorum")

# For people who come in with kubectl exec.
{
  printf 'export PATH=%q\\n' "$PATH"
  printf 'export PYTHONPATH=%q\\n' "\${PYTHONPATH:-}"
  printf 'export fluxsocket=%q\\n' "local://$run/local"
} >"$flux/flux-view.sh"

# Runs a command that hears the signals of the Pod, and leaves its exit code in rc.
attend() {
  "$@" <&0 &
  child=$!
  # One that came in between.
  [ -z "$stopped" ] || kill -s TERM "$child" 2>/dev/null || :
  while :; do
    heard=
    rc=0
    wait "$child" || rc=$?
    [ -n "$heard" ] || break
  done
  child=
}

finish() {
  : >"$flux/flux-operator-complete.txt"
  exit "$1"
}

[ -z "$stopped" ] || finish 143
if [ "$name" = "$lead" ]; then
  if [ $# -eq 0 ]; then
    printf 'flux-entrypoint: the broker waits for you: . %s && flux proxy %s bash\\n' "$flux/flux-view.sh" "local://$run/local"
    attend flux broker --config-path "$config" "\${broker[@]}"
  else
    attend flux start -o --config "$config" "\${broker[@]}" flux run "\${tasking[@]}" "$@"
  fi
  finish "$rc"
fi

# A broker ends well when the lead's does; otherwise it lost the lead, which may come back.
retries=\${${FLUX.retriesVariable}:-20}
delay=\${${FLUX.secondsVariable}:-15}
failures=0
while :; do
  began=$SECONDS
  attend flux start -o --config "$config" "\${broker[@]}"
  if [ "$rc" -eq 0 ] || [ -n "$stopped" ]; then finish "$rc"; fi
  # It had joined: the count is of failures in a row.
  [ $((SECONDS - began)) -lt 300 ] || failures=0
  failures=$((failures + 1))
  if [ "$failures" -gt "$retries" ]; then
    printf 'flux-entrypoint: the broker failed %s times in a row, last with %s\\n' "$failures" "$rc" >&2
    finish "$rc"
  fi
  printf 'flux-entrypoint: the broker ended with %s, again in %s s (%s of %s)\\n' "$rc" "$delay" "$failures" "$retries" >&2
  attend sleep "$delay"
  [ -z "$stopped" ] || finish 143
done
`;

/**
 * Runs in Flux's image before the program: copies Flux to a volume of the program's container. A second run does nothing, or
 * starts again when the first was interrupted.
 */
export const INIT_SCRIPT = `#!/bin/bash
# Copies Flux out of its image. Written by Muster; the same for every gang.
if [ -z "\${BASH_VERSION:-}" ]; then echo 'flux-installer: bash is needed' >&2; exit 2; fi
set -euo pipefail
umask 022

root=\${MUSTER_FLUX_ROOT:-}
views="$root/opt/views/._view"
software="$root/opt/software"
target="$root/mnt/flux"
finished="$target/flux-operator-done.txt"

fail() {
  printf 'flux-installer: %s\\n' "$*" >&2
  exit 1
}

[ ! -e "$finished" ] || exit 0
[ -w "$target" ] || fail "$target cannot be written: it has to be a volume of the Pod"

# The real view is the only folder in here; its name is a hash.
view=
for entry in "$views"/*/; do
  [ -d "$entry" ] || continue
  [ -z "$view" ] || fail "$views has more than one view"
  view=$entry
done
[ -n "$view" ] || fail "$views has no view: flux-view-image names an image without Flux"
[ -d "$software" ] || fail "$software is missing: flux-view-image names an image without Flux"

# What a run that was cut off has left may be write-protected.
for part in view software; do
  [ -e "$target/$part" ] || continue
  chmod -R u+rwX "$target/$part"
  rm -rf "\${target:?}/$part"
done
cp -R "$view." "$target/view"
cp -R "$software/." "$target/software"

# The view brings a Python of its own, and Flux has to run with that one.
for library in "$target"/view/lib/python3.*/; do
  version=\${library%/}
  version=\${version##*/}
  [ -e "$target/view/bin/$version" ] || [ -L "$target/view/bin/$version" ] || continue
  ln -sfn "$version" "$target/view/bin/python3"
  ln -sfn "$version" "$target/view/bin/python"
done

: >"$finished"
`;
