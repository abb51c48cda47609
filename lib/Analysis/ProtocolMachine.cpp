//===- ProtocolMachine.cpp - roles run against each other -----------------===//
//
// Every block of a cluster has signals, stages and flags of its own, under the same
// numbers; whatever reaches all blocks is one effect in each. A copy by parts is in
// flight to each block apart from the others, and may land there before that block's
// own producer has announced the stage.
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

/// A copy under way to one block.
struct Flight {
  size_t block, signal, stage;
  int64_t part; ///< Of the block that sent it; -1: the whole.
  size_t sender;
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
  std::vector<Flight> copies;
  std::vector<int64_t> turns; ///< Passed to a group and not yet taken.
  std::mt19937_64 random;

  Machine(const std::vector<Role> &roles, const Numbers &numbers, int64_t blockCount,
          bool takeTurns, uint64_t seed)
      : roles(roles), blocks(static_cast<size_t>(blockCount)),
        perBlock(roles.size() / blocks), signalCount(numbers.arrivals.size()),
        stageCount(static_cast<size_t>(numbers.stages)),
        flagCount(static_cast<size_t>(numbers.flags)), flags(blocks * flagCount, nullptr),
        begun(blocks, 0), at(roles.size(), 0), met(roles.size(), 0),
        inFlight(roles.size()), turns(roles.size(), 0), random(seed) {
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
    if (e.kind == Event::Meet)
      for (size_t other = 0; other < roles.size(); ++other)
        if (met[other] < met[role] || (met[other] == met[role] && !meets(other)))
          return false;
    return true;
  }

  std::string arrive(size_t role, const Event &e) {
    for (size_t block : reached(role, e)) {
      if (!begun[block])
        return wrong(role, "arrives in a block that has no signals yet", e);
      if (ended(block))
        return wrong(role, "arrives in a block that has ended", e);
      Signal &s = signals[signalAt(block, e)];
      if (s.left < e.count)
        return wrong(role, "arrives more often than the signal counts", e);
      s.left -= e.count;
      s.settle();
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
    for (size_t block : to) {
      if (!begun[block])
        return wrong(role, "copies to a block that has no signals yet", e);
      size_t stage = stageAt(block, e.stages[0]);
      if (stages[stage].readers > 0)
        return wrong(role, "refills a stage that a product still reads", e);
      copies.push_back({block, signalAt(block, e), stage,
                        e.everywhere ? roles[role].rank : -1, role, &e});
    }
    return "";
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
      return "";
    case Event::Begin:
      begun[block] = 1;
      return "";
    case Event::Meet:
      ++met[role];
      return "";
    case Event::Arrive:
      return arrive(role, e);
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
    case Event::Raise:
      for (size_t to : reached(role, e)) {
        if (ended(to))
          return wrong(role, "raises a flag of a block that has ended", e);
        flags[flagAt(to, e)] = &e;
      }
      return "";
    case Event::Take: {
      const Event *&flag = flags[flagAt(block, e)];
      if ((flag != nullptr) != (e.count != 0))
        return wrong(role, "takes a flag before all have had their say", e);
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

  std::string land(size_t which) {
    Flight flight = copies[which];
    copies.erase(copies.begin() + static_cast<ptrdiff_t>(which));
    Stage &stage = stages[flight.stage];
    if (flight.part >= 0 && ended(flight.block))
      return wrong(flight.sender, "copies to a block that has ended", *flight.event);
    if (stage.readers > 0)
      return wrong(flight.sender, "refills a stage that a product still reads",
                   *flight.event);
    for (size_t part = 0; part < blocks; ++part)
      if (flight.part < 0 || static_cast<size_t>(flight.part) == part)
        ++stage.landed[part];
    --signals[flight.signal].copies;
    signals[flight.signal].settle();
    return "";
  }

  std::string go(bool late) {
    while (true) {
      std::vector<size_t> able;
      for (size_t role = 0; role < roles.size(); ++role)
        if (ready(role))
          able.push_back(role);
      size_t choices = able.size() + (late && !able.empty() ? 0 : copies.size());
      if (choices == 0)
        break;
      size_t pick = random() % choices;
      std::string problem =
          pick < able.size() ? step(able[pick]) : land(pick - able.size());
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
