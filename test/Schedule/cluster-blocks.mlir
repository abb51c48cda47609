// RUN: attn-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(func.func(tile-cluster-blocks))"

// Programs that tile-cluster-blocks refuses.

// expected-error @+1 {{'tile.cluster' needs one tile.specialize at the top of the program}}
func.func @no_roles() attributes {tile.cluster = 2 : i64, tile.persistent = 1 : i64} {
  return
}

// -----

// expected-error @+1 {{'tile.cluster' needs 'tile.persistent' 1: tiles in an order that all blocks of a cluster know}}
func.func @counted() attributes {tile.cluster = 2 : i64, tile.persistent = 2 : i64} {
  tile.specialize groups 1 producer registers 24 {
  } consumer registers 240 {
  }
  return
}

// -----

// Only the queries, whose rows are the block's own.
// expected-error @+1 {{'tile.cluster': no copy is the same for all blocks of a cluster; remove it}}
func.func @nothing_shared(%map: !tile.map<bf16>) attributes {tile.cluster = 2 : i64, tile.persistent = 1 : i64} {
  %zero = arith.constant 0 : i32
  %rank = tile.cluster_rank : i32
  %slabs = tile.alloc_slabs : !tile.slabs<1, 64, 64, bf16>
  %full = tile.alloc_signals : !tile.signals<1, arrivals = 1>
  %empty = tile.alloc_signals : !tile.signals<1, arrivals = 4>
  tile.specialize groups 1 producer registers 24 {
    tile.signal_wait %empty[%zero] parity %zero : !tile.signals<1, arrivals = 4>
    tile.copy_box %map[%zero, %rank] to %slabs signal %full[%zero] : !tile.map<bf16>, !tile.slabs<1, 64, 64, bf16>, !tile.signals<1, arrivals = 1>
  } consumer registers 240 {
  }
  return
}

// -----

func.func @no_wait(%map: !tile.map<bf16>) attributes {tile.cluster = 2 : i64, tile.persistent = 1 : i64} {
  %zero = arith.constant 0 : i32
  %slabs = tile.alloc_slabs : !tile.slabs<1, 64, 64, bf16>
  %full = tile.alloc_signals : !tile.signals<1, arrivals = 1>
  tile.specialize groups 1 producer registers 24 {
    // expected-error @+1 {{stands behind no wait for its stage}}
    tile.copy_box %map[%zero, %zero] to %slabs signal %full[%zero] : !tile.map<bf16>, !tile.slabs<1, 64, 64, bf16>, !tile.signals<1, arrivals = 1>
  } consumer registers 240 {
  }
  return
}

// -----

// One wait for two copies, of which one is the block's own.
// expected-error @+1 {{'tile.cluster': a stage holds a copy that blocks share and one that they do not}}
func.func @mixed(%map: !tile.map<bf16>) attributes {tile.cluster = 2 : i64, tile.persistent = 1 : i64} {
  %zero = arith.constant 0 : i32
  %rank = tile.cluster_rank : i32
  %a = tile.alloc_slabs : !tile.slabs<1, 64, 128, bf16>
  %b = tile.alloc_slabs : !tile.slabs<1, 64, 128, bf16>
  %full = tile.alloc_signals : !tile.signals<1, arrivals = 2>
  %empty = tile.alloc_signals : !tile.signals<1, arrivals = 4>
  tile.specialize groups 1 producer registers 24 {
    tile.signal_wait %empty[%zero] parity %zero : !tile.signals<1, arrivals = 4>
    tile.copy_box %map[%zero, %zero] to %a signal %full[%zero] : !tile.map<bf16>, !tile.slabs<1, 64, 128, bf16>, !tile.signals<1, arrivals = 2>
    tile.copy_box %map[%zero, %rank] to %b signal %full[%zero] : !tile.map<bf16>, !tile.slabs<1, 64, 128, bf16>, !tile.signals<1, arrivals = 2>
  } consumer registers 240 {
  }
  return
}
