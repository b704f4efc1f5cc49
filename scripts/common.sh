# Sourced by the other scripts: where the repository is, and steps that speak only when they fail.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=$(nproc)

# step «what it does» command…: one line on stderr, with the seconds it took; the command's own
# output only if it fails, and then its exit code ends the script.
step() {
  local what=$1 log started=$SECONDS code=0
  shift
  log=$(mktemp)
  printf '%s … ' "$what" >&2
  "$@" >"$log" 2>&1 </dev/null || code=$?
  if [ "$code" -ne 0 ]; then
    printf 'failed\n' >&2
    cat "$log" >&2
    rm -f "$log"
    printf 'error: «%s» exited %d: %s\n' "$what" "$code" "$*" >&2
    exit "$code"
  fi
  rm -f "$log"
  printf '%d s\n' $((SECONDS - started)) >&2
}

# configure PRESET [cmake arguments]: makes build/PRESET ready to build.
configure() {
  local preset=$1
  shift
  step "configure $preset" cmake -S "$root" --preset "$preset" "$@"
}

# build PRESET [targets]: builds everything, or the targets named.
build() {
  local preset=$1
  shift
  step "build $preset${*:+ ($*)}" cmake --build "$root/build/$preset" --parallel "$jobs" ${@:+--target "$@"}
}
