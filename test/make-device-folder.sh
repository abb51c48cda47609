#!/usr/bin/env bash
# Makes the folder that test/device.sh runs on a GPU machine without LLVM.
#   test/make-device-folder.sh FOLDER [--arch sm_90] [--quick]
# --arch assembles for that GPU (PTX travels in any case); --quick takes bf16 only.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:?usage: test/make-device-folder.sh FOLDER [--arch sm_90] [--quick]}
shift
arch=none
dtypes="bf16 f16 f32"
while [ $# -gt 0 ]; do
  case $1 in
  --arch) arch=$2; shift 2 ;;
  --quick) dtypes=bf16; shift ;;
  *) echo "make-device-folder: unknown option $1" >&2; exit 2 ;;
  esac
done
bin=$here/build/bin
mkdir -p "$folder"/{bin,check,bench,src}
cp "$bin/attn-bench" "$bin/attn-check" "$folder/bin/"
jobs=$folder/src/jobs.txt
: >"$jobs"
for spec in "$here"/kernels/*.attn; do
  name=$(basename "$spec" .attn)
  bind="--bind D=64"
  [ "$name" = dqk_dv ] && bind=""
  for dtype in $dtypes; do
    sed "s/bf16/$dtype/g" "$spec" >"$folder/src/${name}_$dtype.attn"
    echo "$folder/src/${name}_$dtype.attn -o $folder/check/${name}_$dtype --targets=sm_80 --cubin=$arch $bind" >>"$jobs"
  done
done
for width in 8 40 72 80 96 128 192 256; do
  echo "$here/kernels/causal.attn -o $folder/check/causal_D$width --targets=sm_80 --cubin=$arch --bind D=$width" >>"$jobs"
done
for spec in "$here"/test/Run/specs/*.attn; do
  echo "$spec -o $folder/check/x_$(basename "$spec" .attn) --targets=sm_80 --cubin=$arch" >>"$jobs"
done
for name in causal full; do
  for width in 64 128; do
    echo "$here/kernels/$name.attn -o $folder/bench/${name}_D$width --targets=sm_80 --cubin=$arch --bind D=$width" >>"$jobs"
  done
done
xargs -P "$(nproc)" -L1 "$bin/attnc" <"$jobs"
du -sh "$folder"
