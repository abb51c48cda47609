//===- ProtocolMachine.cpp - roles run against each other -----------------===//
//
// Every block of a cluster has signals, stages and flags of its own, under the same
// numbers. What reaches another block is in flight until it lands there, apart from
// what goes to the others and from what the same role sends next, unless an arrival
// releases. A part of a copy may land before the block's own producer has announced
// the stage.
//
//===----------------------------------------------------------------------===//

#include "lib/Analysis/ProtocolMachine.h"

#include <deque>

using namespace mlir;
using namespace attn;
using namespace attn::protocol;

namespace {
/// A memory barrier: `left` arrivals and `copies` complete its phase. Parts that have
/// landed before they were announced make `copies` negative.
struct Signal {
  int64_t arrivals = 0, left = 0, copies = 0, phase = 0;
  void settle() {
    if (left == 0 && copies == 0) {
      ++phase;
      left = arrivals;
    }
  }
};

struct Stage {
  int64_t announced = 0;       ///< Times that its block's producer filled it.
  std::vector<int64_t> landed; ///< Times, by the block that brought the part.
  int64_t readers = 0;         ///< Products in flight that read it.
};

/// A copy, or an arrival or a flag for another block, under way to one block.
struct Flight {
  size_t block, sender; ///< Where to, and the role that it comes from.
  const Event *event;
};

struct Machine {
  const std::vector<Role> &roles;
  size_t blocks, perBlock; ///< Roles of a block.
  size_t signalCount, stageCount, flagCount;
  std::vector<Signal> signals;
  std::vector<Stage> stages;
  std::vector<const Event *> flags; ///< Who raised them.
  std::vector<char> begun;          ///< Blocks whose signals are there.
  std::vector<size_t> at, met;      ///< Of each role.
  std::vector<std::deque<const Event *>> inFlight; ///< Products of each role.
  std::vector<Flight> flights;
  std::vector<char> acquired; ///< The role's last wait was for other blocks, too.
  std::vector<int64_t> turns; ///< Passed to a group and not yet taken.
  std::mt19937_64 random;

  Machine(const std::vector<Role> &roles, const Numbers &numbers, int64_t blockCount,
          bool takeTurns, uint64_t seed)
      : roles(roles), blocks(static_cast<size_t>(blockCount)),
        perBlock(roles.size() / blocks), signalCount(numbers.arrivals.size()),
        stageCount(static_cast<size_t>(numbers.stages)),
        flagCount(static_cast<size_t>(numbers.flags)), flags(blocks * flagCount, nullptr),
        begun(blocks, 0), at(roles.size(), 0), met(roles.size(), 0),
        inFlight(roles.size()), acquired(roles.size(), 0), turns(roles.size(), 0),
        random(seed) {
    for (size_t block = 0; block < blocks; ++block) {
      for (int64_t arrivals : numbers.arrivals)
        signals.push_back({arrivals, arrivals});
      if (takeTurns && perBlock > 1)
        turns[block * perBlock + 1] = 1;
      // Without a producer nobody says so.
      begun[block] = roles[block * perBlock].events.empty();
    }
    stages.resize(blocks * stageCount);
    for (Stage &stage : stages)
      stage.landed.assign(blocks, 0);
  }

  static std::string place(const Event &event) {
    std::string text;
    llvm::raw_string_ostream out(text);
    out << event.op->getName() << " at " << event.op->getLoc();
    return text;
  }
  std::string who(size_t role) const {
    int64_t group = roles[role].group;
    std::string name =
        group == 0 ? "the producer" : "consumer " + std::to_string(group - 1);
    return blocks == 1 ? name : name + " of block " + std::to_string(roles[role].rank);
  }
  std::string wrong(size_t role, const char *does, const Event &event) const {
    return who(role) + " " + does + ": " + place(event);
  }

  size_t blockOf(size_t role) const { return role / perBlock; }
  size_t signalAt(size_t block, const Event &e) const {
    return block * signalCount + static_cast<size_t>(e.signal);
  }
  size_t flagAt(size_t block, const Event &e) const {
    return block * flagCount + static_cast<size_t>(e.signal);
  }
  size_t stageAt(size_t block, int64_t stage) const {
    return block * stageCount + static_cast<size_t>(stage);
  }
  /// The blocks that an event of `role` reaches.
  std::vector<size_t> reached(size_t role, const Event &e) const {
    if (!e.everywhere)
      return {blockOf(role)};
    std::vector<size_t> all;
    for (size_t block = 0; block < blocks; ++block)
      all.push_back(block);
    return all;
  }
  bool over(size_t role) const { return at[role] >= roles[role].events.size(); }
  bool ended(size_t block) const {
    for (size_t role = block * perBlock; role < (block + 1) * perBlock; ++role)
      if (!over(role))
        return false;
    return true;
  }

  bool meets(size_t role) const {
    return !over(role) && roles[role].events[at[role]].kind == Event::Meet;
  }

  bool ready(size_t role) const {
    if (over(role))
      return false;
    const Event &e = roles[role].events[at[role]];
    // Threads of a block wait for its first one, which makes the signals.
    if (!begun[blockOf(role)] && role % perBlock != 0)
      return false;
    if (e.kind == Event::Wait) // Parity p has completed when the phase's is not p.
      return (signals[signalAt(blockOf(role), e)].phase & 1) != (e.count & 1);
    if (e.kind == Event::TurnWait)
      return turns[role] > 0;
    if (e.kind != Event::Meet)
      return true;
    // The barrier orders what its threads did, not what they asked the engine for.
    for (const Flight &flight : flights)
      if (flight.event->kind != Event::Copy)
        return false;
    for (size_t other = 0; other < roles.size(); ++other)
      if (met[other] < met[role] || (met[other] == met[role] && !meets(other)))
        return false;
    return true;
  }

  /// To all blocks that the event reaches; only copies take time to its own.
  std::string send(size_t role, const Event &e) {
    for (size_t block : reached(role, e)) {
      if (!begun[block])
        return wrong(role, "reaches a block that has no signals yet", e);
      Flight flight{block, role, &e};
      std::string problem;
      if (e.kind == Event::Copy || block != blockOf(role))
        flights.push_back(flight);
      else
        problem = land(flight);
      if (!problem.empty())
        return problem;
    }
    return "";
  }

  std::string copy(size_t role, const Event &e) {
    size_t own = blockOf(role);
    Signal &announced = signals[signalAt(own, e)];
    if (announced.left < 1)
      return wrong(role, "arrives more often than the signal counts", e);
    std::vector<size_t> to = reached(role, e);
    --announced.left;
    announced.copies += static_cast<int64_t>(to.size());
    ++stages[stageAt(own, e.stages[0])].announced;
    for (size_t block : to)
      if (stages[stageAt(block, e.stages[0])].readers > 0)
        return wrong(role, "refills a stage that a product still reads", e);
    return send(role, e);
  }

  std::string read(size_t role, const Event &e, int64_t stage) {
    const Stage &s = stages[stageAt(blockOf(role), stage)];
    for (int64_t landed : s.landed) {
      if (s.announced == 0 || landed < s.announced)
        return wrong(role, "reads a stage before its copy has landed", e);
      if (landed > s.announced)
        return wrong(role, "reads a stage that has been refilled", e);
    }
    return "";
  }

  std::string step(size_t role) {
    const Event &e = roles[role].events[at[role]++];
    size_t block = blockOf(role);
    switch (e.kind) {
    case Event::Wait:
      acquired[role] = e.ordered;
      return "";
    case Event::Begin:
      begun[block] = 1;
      return "";
    case Event::Meet:
      ++met[role];
      return "";
    case Event::Arrive:
    case Event::Raise:
      return send(role, e);
    case Event::Copy:
      return copy(role, e);
    case Event::Read:
      return read(role, e, e.stages[0]);
    case Event::Dot:
      for (int64_t stage : e.stages) {
        std::string problem = read(role, e, stage);
        if (!problem.empty())
          return problem;
        ++stages[stageAt(block, stage)].readers;
      }
      inFlight[role].push_back(&e);
      return "";
    case Event::DotWait:
      while (static_cast<int64_t>(inFlight[role].size()) > e.count) {
        for (int64_t stage : inFlight[role].front()->stages)
          --stages[stageAt(block, stage)].readers;
        inFlight[role].pop_front();
      }
      return "";
    case Event::Take: {
      const Event *&flag = flags[flagAt(block, e)];
      if ((flag != nullptr) != (e.count != 0))
        return wrong(role, "takes a flag before all have had their say", e);
      if (flag && flag->everywhere && !acquired[role])
        return wrong(role, "takes another block's flag without acquiring it", e);
      flag = nullptr;
      return "";
    }
    case Event::TurnWait:
      --turns[role];
      return "";
    case Event::TurnPass: {
      size_t next = role + 1 < (block + 1) * perBlock ? role + 1 : block * perBlock + 1;
      if (++turns[next] > 1)
        return wrong(role, "passes a turn to one that still has it", e);
      return "";
    }
    }
    return "";
  }

  std::string land(const Flight &flight) {
    const Event &e = *flight.event;
    size_t block = flight.block;
    if (ended(block) && block != blockOf(flight.sender))
      return wrong(flight.sender, "reaches a block that has ended", e);
    if (e.kind == Event::Raise) {
      flags[flagAt(block, e)] = &e;
      return "";
    }
    Signal &signal = signals[signalAt(block, e)];
    if (e.kind == Event::Arrive) {
      if (e.ordered) // Flags come first.
        for (size_t i = flights.size(); i-- > 0;)
          if (flights[i].event->kind == Event::Raise && flights[i].block == block &&
              flights[i].sender == flight.sender)
            (void)land(take(i));
      if (signal.left < e.count)
        return wrong(flight.sender, "arrives more often than the signal counts", e);
      signal.left -= e.count;
      signal.settle();
      return "";
    }
    Stage &stage = stages[stageAt(block, e.stages[0])];
    if (stage.readers > 0)
      return wrong(flight.sender, "refills a stage that a product still reads", e);
    for (size_t part = 0; part < blocks; ++part)
      if (!e.everywhere || part == blockOf(flight.sender))
        ++stage.landed[part];
    --signal.copies;
    signal.settle();
    return "";
  }

  Flight take(size_t which) {
    Flight flight = flights[which];
    flights.erase(flights.begin() + static_cast<ptrdiff_t>(which));
    return flight;
  }

  std::string go(bool late) {
    while (true) {
      std::vector<size_t> able;
      for (size_t role = 0; role < roles.size(); ++role)
        if (ready(role))
          able.push_back(role);
      size_t choices = able.size() + (late && !able.empty() ? 0 : flights.size());
      if (choices == 0)
        break;
      size_t pick = random() % choices;
      std::string problem =
          pick < able.size() ? step(able[pick]) : land(take(pick - able.size()));
      if (!problem.empty())
        return problem;
    }
    for (size_t role = 0; role < roles.size(); ++role) {
      if (!over(role))
        return wrong(role, "waits for ever", roles[role].events[at[role]]);
      if (!inFlight[role].empty())
        return wrong(role, "ends with a product that nobody waited for",
                     *inFlight[role].front());
    }
    for (const Event *raised : flags)
      if (raised)
        return "nobody takes a flag that was raised: " + place(*raised);
    return "";
  }
};
} // namespace

std::string attn::protocol::runInSomeOrder(const std::vector<Role> &roles,
                                           const Numbers &numbers, int64_t blocks,
                                           bool turns, bool late, uint64_t seed) {
  return Machine(roles, numbers, blocks, turns, seed).go(late);
}
