// RUN: attn-opt %s --split-input-file --verify-diagnostics

// One program for every message of what belongs to clusters.

// expected-error @+1 {{'tile.cluster' belongs on a func.func and is 2}}
func.func @four() attributes {tile.cluster = 4 : i64} {
  return
}

// -----

func.func @on_an_operation() {
  // expected-error @+1 {{'tile.cluster' belongs on a func.func and is 2}}
  %d = tile.grid_dim {tile.cluster = 2 : i64} : i32
  return
}

// -----

func.func @rank_of_none() {
  // expected-error @+1 {{a rank needs 'tile.cluster' on its program}}
  %rank = tile.cluster_rank : i32
  return
}

// -----

func.func @barrier_of_none() {
  // expected-error @+1 {{a barrier of blocks needs 'tile.cluster' on its program}}
  tile.cluster_barrier
  return
}

// -----

func.func @part_of_none(%map: !tile.map<bf16>, %slabs: !tile.slabs<2, 64, 128, bf16>, %signals: !tile.signals<2, arrivals = 1>, %i: i32) {
  // expected-error @+1 {{'part' needs 'tile.cluster' on its program}}
  tile.copy_box %map[%i, %i] to %slabs signal %signals[%i] part %i : !tile.map<bf16>, !tile.slabs<2, 64, 128, bf16>, !tile.signals<2, arrivals = 1>
  return
}

// -----

func.func @part_of_a_swizzle(%map: !tile.map<bf16>, %slabs: !tile.slabs<2, 24, 64, bf16>, %signals: !tile.signals<2, arrivals = 1>, %i: i32) attributes {tile.cluster = 2 : i64} {
  // expected-error @+1 {{a part has whole groups of 8 rows, not 12}}
  tile.copy_box %map[%i, %i] to %slabs signal %signals[%i] part %i : !tile.map<bf16>, !tile.slabs<2, 24, 64, bf16>, !tile.signals<2, arrivals = 1>
  return
}

// -----

func.func @whole_box(%map: !tile.map<bf16> {tile.arg = {box = array<i64: 64, 64>, kind = "map"}}, %slabs: !tile.slabs<2, 64, 64, bf16>, %signals: !tile.signals<2, arrivals = 1>, %i: i32) attributes {tile.cluster = 2 : i64} {
  // expected-error @+1 {{the map's box has 64 rows, a part of the stage 32}}
  tile.copy_box %map[%i, %i] to %slabs signal %signals[%i] part %i : !tile.map<bf16>, !tile.slabs<2, 64, 64, bf16>, !tile.signals<2, arrivals = 1>
  return
}

// -----

func.func @arrives_in_none(%signals: !tile.signals<2, arrivals = 1>, %i: i32) {
  // expected-error @+1 {{'cluster' needs 'tile.cluster' on its program}}
  tile.signal_arrive %signals[%i] cluster : !tile.signals<2, arrivals = 1>
  return
}

// -----

func.func @arrives_perhaps(%signals: !tile.signals<2, arrivals = 1>, %i: i32, %p: i1) attributes {tile.cluster = 2 : i64} {
  // expected-error @+1 {{an arrival in all blocks has no 'if'}}
  tile.signal_arrive %signals[%i] if %p cluster : !tile.signals<2, arrivals = 1>
  return
}

// -----

func.func @releases_to_none(%signals: !tile.signals<2, arrivals = 1>, %i: i32) attributes {tile.cluster = 2 : i64} {
  // expected-error @+1 {{'release' is for arrivals in other blocks; add 'cluster'}}
  tile.signal_arrive %signals[%i] release : !tile.signals<2, arrivals = 1>
  return
}

// -----

func.func @raises_in_none(%flags: !tile.flags<2>, %i: i32, %p: i1) {
  // expected-error @+1 {{'cluster' needs 'tile.cluster' on its program}}
  tile.raise_flag %flags[%i] if %p cluster : !tile.flags<2>
  return
}
