#!/usr/bin/env bash
# Installs what is missing (Debian 12 packages), builds, and runs the main job:
# one spec through every level on this machine, with its profile.
#   tools/quickstart.sh [--build-only]
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  "" | --build-only) ;;
  --help | -h)
    sed -n '2,4 s/^# \{0,1\}//p' tools/quickstart.sh
    exit 0
    ;;
  *) echo "quickstart.sh: unknown argument '$1'; use --build-only or nothing" >&2; exit 2 ;;
esac

say() { printf '\n== %s\n' "$*"; }

need_packages() {
  local missing=()
  for package in "$@"; do
    dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  command -v apt-get >/dev/null || {
    echo "error: no apt-get here; install by hand what these packages of Debian 12 hold: ${missing[*]}" >&2
    exit 1
  }
  say "installing ${missing[*]}"
  local sudo=""
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "error: not root and no sudo; ask an administrator to install: ${missing[*]}" >&2
      exit 1
    }
    sudo=sudo
  fi
  if ! apt-cache show llvm-22-dev >/dev/null 2>&1; then
    $sudo apt-get update
  fi
  if ! apt-cache show llvm-22-dev >/dev/null 2>&1; then
    echo "error: no package llvm-22-dev in the configured sources; add LLVM's own" >&2
    echo "       repository for Debian 12 (its page 'LLVM Debian packages' says how)" >&2
    exit 1
  fi
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y "${missing[@]}"
}

need_packages g++ cmake ninja-build ccache python3 \
  llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools \
  libfmt-dev libgtest-dev nlohmann-json3-dev libcli11-dev

if ! command -v nvcc >/dev/null && [ ! -d "${CUDA_HOME:-/usr/local/cuda}" ]; then
  echo "note: no CUDA Toolkit found: PTX is made, cubins and GPU runs are off"
fi

say "building"
mkdir -p build
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release >build/configure.log 2>&1 || {
  cat build/configure.log
  exit 1
}
cmake --build build

[ "${1:-}" = --build-only ] && exit 0

say "one spec, every level, on the CPU: checked against float64, then timed"
build/bin/attn-bench kernels/causal.attn --target=cpu --levels=all --bind B=1,H=4,M=512,N=512,D=64 --kernels

say "the same spec as PTX for sm_80 (bundle in out/causal)"
build/bin/attnc kernels/causal.attn -o out/causal --targets=cpu,sm_80 --levels=all
ls out/causal
