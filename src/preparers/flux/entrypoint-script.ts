import { BROKER_FUNCTIONS } from './broker-functions.ts';
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

${BROKER_FUNCTIONS}setting() { cat "$settings/$1" || fail "$settings/$1 cannot be read: the ConfigMap of the gang is missing"; }

[ "\${1:-}" = -- ] || fail 'the command of the program follows after --'
shift
[ -w "$flux" ] || fail "$flux cannot be written: it has to be a volume of the Pod"
[ -e "$flux/flux-operator-done.txt" ] || fail "$flux has no Flux: the init container flux-installer has not run"

hosts=$(setting hosts)
lead=$(setting lead)
quorum=$(setting quorum)
tasks=$(setting tasks-per-node)
cores_each=$(setting cores-per-task)
gpus_each=$(setting gpus-per-task)
exclusive=$(setting exclusive)
cpu_affinity=$(setting cpu-affinity)
gpu_affinity=$(setting gpu-affinity)
pmi=$(setting pmi)
name=$(hostname 2>/dev/null || printf '%s' "$HOSTNAME")

# What only this Pod knows, and what would send the broker elsewhere if the program's image or Pod had set it.
gpus=\${${FLUX.gpusVariable}:-0}
device=\${FLUX_NETWORK_DEVICE:-}
queue=\${FLUX_QUEUE_POLICY:-}
unset FLUX_VIEW_IMAGE FLUX_NETWORK_DEVICE FLUX_QUEUE_POLICY FLUX_CONF_DIR FLUX_URI
[[ $gpus =~ ^(0|[1-9][0-9]{0,4})$ ]] || fail "MUSTER_FLUX_GPUS is no number: $gpus"
[[ $device =~ ^[A-Za-z0-9_.:-]{0,15}$ ]] || fail "FLUX_NETWORK_DEVICE is no name of a network device: $device"
[[ $queue =~ ^(fcfs|easy|)$ ]] || fail "FLUX_QUEUE_POLICY is neither fcfs nor easy: $queue"

# After what the image has, so that its own programs win. Flux is written in Python too; the program gets its own path back.
export PATH="$PATH:$view/bin"
environment=(--env=-PYTHONPATH)
if [ -n "\${PYTHONPATH+set}" ]; then
  own=\${PYTHONPATH//'$'/'$$'}
  environment+=("--env=PYTHONPATH=$own")
fi
for packages in "$view"/lib/python3.*/site-packages; do
  [ -d "$packages" ] || continue
  export PYTHONPATH="$packages\${PYTHONPATH:+:$PYTHONPATH}"
done
# Loads Fluxion, the scheduler: by rc1.d, or where Flux has flux-modprobe by what that finds.
export FLUX_RC_EXTRA="$view/etc/flux"
export FLUX_MODPROBE_PATH_APPEND="$view/etc/flux/modprobe"

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

# A line of each group: its hosts, how many, and what a Pod of it has; - is for what only this Pod can say.
ids() { if [ "$1" -eq 1 ]; then echo 0; else echo "0-$(($1 - 1))"; fi; }
here=$(unset OMP_NUM_THREADS OMP_THREAD_LIMIT && nproc 2>/dev/null) || here=1
rank=0
groups=0
any_gpus=0
: >"$flux/config/R.parts"
while read -r list count cores gpus_there; do
  [ "$cores" != - ] || cores=$here
  [ "$gpus_there" != - ] || gpus_there=$gpus
  encode=(--ranks="$rank-$((rank + count - 1))" --hosts="$list" --cores="$(ids "$cores")")
  [ "$count" -gt 1 ] || encode[0]="--ranks=$rank"
  [ "$gpus_there" -eq 0 ] || encode+=(--gpus="$(ids "$gpus_there")")
  flux R encode "\${encode[@]}" </dev/null >>"$flux/config/R.parts"
  [ "$rank" -gt 0 ] || most_cores=$cores least_cores=$cores least_gpus=$gpus_there
  [ "$cores" -le "$most_cores" ] || most_cores=$cores
  [ "$cores" -ge "$least_cores" ] || least_cores=$cores
  [ "$gpus_there" -ge "$least_gpus" ] || least_gpus=$gpus_there
  if [ "$gpus_there" -gt 0 ] && { [ "$any_gpus" -eq 0 ] || [ "$gpus_there" -lt "$any_gpus" ]; }; then any_gpus=$gpus_there; fi
  rank=$((rank + count))
  groups=$((groups + 1))
done < <(setting resources)
[ "$groups" -gt 0 ] || fail "$settings/resources cannot be read: the ConfigMap of the gang is missing"
if [ "$groups" -eq 1 ]; then
  mv -f "$flux/config/R.parts" "$flux/config/R.new"
else
  flux R append <"$flux/config/R.parts" >"$flux/config/R.new"
  rm -f "$flux/config/R.parts"
fi
mv -f "$flux/config/R.new" "$flux/config/etc/flux/system/R"

case $tasks in
  cpu) tasks=$((least_cores / (cores_each > 0 ? cores_each : 1))) ;;
  gpu) tasks=$((any_gpus / (gpus_each > 0 ? gpus_each : 1))) ;;
esac
[ "$tasks" -gt 0 ] || fail 'no task fits into a Pod: it has fewer cores or GPUs than one of them takes'
if [ "$exclusive" = true ]; then
  [ $((any_gpus % tasks)) -eq 0 ] || fail "$any_gpus GPUs cannot be shared out evenly among $tasks tasks of a Pod"
  tasking=(-N "$quorum" --tasks-per-node="$tasks" --exclusive)
  # flux-pmix counts one task a Pod otherwise.
  if [ "$pmi" = pmix ]; then
    [ "$tasks" -le "$least_cores" ] || fail "$tasks tasks have to share $least_cores cores of a Pod, which they cannot where pmi is pmix"
    tasking=(-N "$quorum" -n $((quorum * tasks)) --exclusive)
  fi
else
  share=$((least_cores / tasks))
  tasking=(-N "$quorum" -n $((quorum * tasks)) -c $((cores_each > 0 ? cores_each : share > 0 ? share : 1)))
  share=$((gpus_each > 0 ? gpus_each : least_gpus / tasks))
  [ "$share" -eq 0 ] || tasking+=(-g "$share")
fi
if [ "$cpu_affinity" = auto ]; then
  cpu_affinity=off
  [ "$here $here" != "$least_cores $most_cores" ] || [ "$tasks" -gt "$here" ] || cpu_affinity=per-task
fi
# Where Flux knows of no GPU it would hide those that the container has by other means.
[ "$any_gpus" -gt 0 ] || gpu_affinity=off
tasking+=(-o cpu-affinity="$cpu_affinity" -o gpu-affinity="$gpu_affinity")
if [ "$pmi" = pmix ]; then
  plugin=$(compgen -G "$view/lib*/flux/shell/plugins/pmix.so") || fail "pmi is pmix, and $view has no flux-pmix: Flux would leave it out without a word"
  # Flux looks for plugins where it was built for, which need not be the view; the start of its shell names this one.
  mkdir -p "$flux/config/etc/flux/shell"
  printf 'plugin.load { file = "%s" }\\n' "\${plugin%%$'\\n'*}" >"$flux/config/etc/flux/shell/pmix.lua.new"
  mv -f "$flux/config/etc/flux/shell/pmix.lua.new" "$flux/config/etc/flux/shell/pmix.lua"
  export FLUX_SHELL_RC_PATH="$flux/config/etc/flux/shell"
  tasking+=(-o pmi=pmix)
fi
[ "$cores_each" -eq 0 ] || [ -n "\${OMP_NUM_THREADS:-}" ] || environment+=("--env=OMP_NUM_THREADS=$cores_each")

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

finish() {
  : >"$flux/flux-operator-complete.txt"
  exit "$1"
}

[ -z "$stopped" ] || finish 143
if [ "$name" = "$lead" ]; then
  # Flux fills in {{id}} and the like in every word: as text of bash the braces of such words never stand side by side.
  if [[ "$*" == *'{{'* ]]; then
    text='exec'
    quote="'\\''"
    brace="{''"
    for word; do
      word=\${word//"'"/"$quote"}
      text+=" '\${word//"{"/"$brace"}'"
    done
    set -- /bin/bash -c "$text"
  fi
  if [ $# -eq 0 ]; then
    printf 'flux-entrypoint: the broker waits for you: . %s && flux proxy %s bash\\n' "$flux/flux-view.sh" "local://$run/local"
    # Without a program of its own it would start a shell, which ends where there is no terminal.
    attend flux broker --config-path "$config" "\${broker[@]}" -Sbroker.rc2_none=1
  else
    leading=yes
    attend flux start -o --config "$config" "\${broker[@]}" flux run "\${tasking[@]}" "\${environment[@]}" "$@"
  fi
  finish "$rc"
fi

# A broker ends well when the lead's does; otherwise it lost the lead, which may come back.
retries=\${${FLUX.retriesVariable}:-20}
delay=\${${FLUX.secondsVariable}:-15}
failures=0
met="$flux/config/lead-met"
gone="$flux/config/lead-gone"
rm -f "$met" "$gone"

while :; do
  began=$SECONDS
  watching=yes
  attend flux start -o --config "$config" "\${broker[@]}"
  watching=
  if [ -e "$gone" ]; then
    printf 'flux-entrypoint: no broker of the lead %s for %s s: it is gone\\n' "$lead" "$(cat "$gone")" >&2
    finish 1
  fi
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
