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
