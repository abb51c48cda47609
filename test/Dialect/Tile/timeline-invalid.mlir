// RUN: attn-opt %s --split-input-file --verify-diagnostics -o /dev/null

// What must hold for lanes and stamps.

func.func @stamp_without_a_lane() {
  // expected-error @+1 {{needs a tile.open_lane at the top of its program}}
  tile.stamp score
  return
}

// -----

func.func @close_without_a_lane() {
  // expected-error @+1 {{needs a tile.open_lane at the top of its program}}
  tile.close_lane
  return
}

// -----

func.func @stamped_wait_without_a_lane(%zero: i32) {
  %signals = tile.alloc_signals : !tile.signals<1, arrivals = 1>
  // expected-error @+1 {{needs a tile.open_lane at the top of its program}}
  tile.signal_wait %signals[%zero] parity %zero during slot_wait then copy : !tile.signals<1, arrivals = 1>
  return
}

// -----

func.func @half_stamped_wait(%records: !tile.ptr<i32>, %zero: i32) {
  tile.open_lane %records lanes 1 steps 1 : !tile.ptr<i32>
  %signals = tile.alloc_signals : !tile.signals<1, arrivals = 1>
  // expected-error @+1 {{needs both phases}}
  "tile.signal_wait"(%signals, %zero, %zero) {then = #tile<phase copy>} : (!tile.signals<1, arrivals = 1>, i32, i32) -> ()
  return
}

// -----

func.func @wide_records(%records: !tile.ptr<i64>) {
  // expected-error @+1 {{records must be a !tile.ptr<i32>}}
  tile.open_lane %records lanes 1 steps 1 : !tile.ptr<i64>
  return
}

// -----

func.func @no_room(%records: !tile.ptr<i32>) {
  // expected-error @+1 {{lanes and steps must be positive, their product below 2^30}}
  tile.open_lane %records lanes 1024 steps 1048576 : !tile.ptr<i32>
  return
}

// -----

func.func @two_lanes(%records: !tile.ptr<i32>) {
  // expected-error @+1 {{stands in its program twice}}
  tile.open_lane %records lanes 1 steps 1 : !tile.ptr<i32>
  tile.open_lane %records lanes 1 steps 1 : !tile.ptr<i32>
  return
}

// -----

func.func @lane_in_a_loop(%records: !tile.ptr<i32>, %n: i32, %one: i32) {
  scf.for %i = %one to %n step %one : i32 {
    // expected-error @+1 {{must stand at the top of a program}}
    tile.open_lane %records lanes 1 steps 1 : !tile.ptr<i32>
  }
  return
}

// -----

func.func @unknown_phase(%records: !tile.ptr<i32>) {
  tile.open_lane %records lanes 1 steps 1 : !tile.ptr<i32>
  // expected-error @+2 {{expected ::attn::tile::Phase to be one of}}
  // expected-error @+2 {{failed to parse Tile_PhaseAttr}}
  tile.stamp lunch
  return
}
