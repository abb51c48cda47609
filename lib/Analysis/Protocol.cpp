//===- Protocol.cpp - the warp groups' hand-over, run as an abstract machine =//

#include "lib/Analysis/Protocol.h"

#include "lib/Analysis/ProtocolMachine.h"
#include "lib/Analysis/ProtocolRoles.h"

#include <algorithm>

using namespace mlir;
using namespace attn;
using namespace attn::protocol;

/// Whether a wait ends the product `dot` of its block: at most as many groups may stay
/// in flight as were closed in between.
static bool ends(tile::DotWaitOp wait, tile::DotAsyncOp dot) {
  if (wait.getValue() != dot.getResult() || wait->getBlock() != dot->getBlock())
    return false;
  int64_t between = 0;
  for (Operation *op = dot->getNextNode(); op && op != wait; op = op->getNextNode())
    between += isa<tile::DotAsyncOp>(op);
  return static_cast<int64_t>(wait.getPending()) <= between;
}

/// Operands in registers belong to the product until a wait holds them: between
/// the two nothing else may come that ends the loop's turn. Static: each product
/// with an operand in registers has a later wait of its block that names it.
static std::string checkHeldOperands(func::FuncOp program) {
  std::string wrong;
  program.walk([&](tile::DotAsyncOp dot) {
    if (dot.getA().getDefiningOp<tile::SlabReadOp>() || !wrong.empty())
      return;
    for (Operation *user : dot.getA().getUsers())
      if (auto wait = dyn_cast<tile::DotWaitOp>(user))
        if (ends(wait, dot) && llvm::is_contained(wait.getHolding(), dot.getA()))
          return;
    llvm::raw_string_ostream(wrong)
        << "operands in registers are not held until the product's wait: "
        << dot->getName() << " at " << dot.getLoc();
  });
  return wrong;
}

/// Ones are written by all threads together, and products read them only behind a
/// barrier: the roles begin with one. Static: both are at the top of the program.
static std::string checkOnes(func::FuncOp program, tile::SpecializeOp roles) {
  std::string wrong;
  Block &top = program.getBody().front();
  auto barriersBehind = [&](Operation *fill, Operation *reader) {
    for (Operation *op = fill->getNextNode(); op; op = op->getNextNode())
      if (op == roles ? roles->isAncestor(reader)
                      : isa<tile::BarrierOp>(op) && op != reader &&
                            op->isBeforeInBlock(top.findAncestorOpInBlock(*reader)))
        return true;
    return false;
  };
  program.walk([&](tile::DotAsyncOp dot) {
    if (!dot.getOnes() || !wrong.empty())
      return;
    for (Operation *user : dot.getOnes().getUsers())
      if (isa<tile::FillOnesOp>(user) && user->getBlock() == &top &&
          barriersBehind(user, dot))
        return;
    llvm::raw_string_ostream(wrong)
        << "a product reads ones before they are written and a barrier has passed: "
        << dot->getName() << " at " << dot.getLoc();
  });
  return wrong;
}

/// Blocks of a cluster bring parts of the same tiles to the same stages, in the same
/// order. Coordinates that depend on data are left out.
static std::string checkParts(ArrayRef<Role> roles) {
  std::vector<std::vector<const Event *>> copies;
  for (const Role &role : roles) {
    if (role.group != 0)
      continue;
    copies.emplace_back();
    for (const Event &event : role.events)
      if (event.kind == Event::Copy && event.everywhere)
        copies.back().push_back(&event);
  }
  for (const std::vector<const Event *> &other : copies)
    for (auto [a, b] : llvm::zip(copies.front(), other)) {
      bool same = a->stages == b->stages && a->op == b->op;
      for (auto [x, y] : llvm::zip(a->at, b->at))
        same &= !x || !y || *x == *y;
      std::string text;
      if (!same) {
        llvm::raw_string_ostream(text)
            << "blocks of a cluster bring parts of different tiles: "
            << a->op->getName() << " at " << a->op->getLoc();
        return text;
      }
    }
  return "";
}

namespace {
/// The roles of a cluster's blocks, followed until producers and consumers agree on
/// which tiles fail.
struct Follower {
  func::FuncOp program;
  tile::SpecializeOp roles;
  const ProtocolRun &run;
  const Numbers &numbers;
  int64_t blocks, groups;
  std::vector<Role> all;
  std::vector<BlockTalk> talk;
  std::string trouble; ///< What a role ran into.

  LogicalResult agree();
  std::string checkAgain() const;

private:
  LogicalResult followAll(const std::vector<Flagged> &believed);
};
} // namespace

LogicalResult Follower::followAll(const std::vector<Flagged> &believed) {
  all.clear();
  talk.assign(static_cast<size_t>(blocks), BlockTalk());
  for (int64_t rank = 0; rank < blocks; ++rank)
    for (int64_t group = 0; group <= groups; ++group) {
      Role role(run, numbers, talk, rank, group, believed[static_cast<size_t>(rank)]);
      if (failed(role.follow(program, roles))) {
        trouble = role.trouble;
        return trouble.empty() ? failure() : success();
      }
      all.push_back(std::move(role));
    }
  return success();
}

/// Each round settles at least one more verdict: up to the first that a producer took
/// for another than it is, what was posted is right.
LogicalResult Follower::agree() {
  std::vector<Flagged> believed(static_cast<size_t>(blocks));
  while (true) {
    if (failed(followAll(believed)))
      return failure();
    if (!trouble.empty())
      return success();
    size_t differs = SIZE_MAX;
    for (auto [taken, block] : llvm::zip(believed, talk)) {
      auto [own, real] = std::mismatch(taken.begin(), taken.end(), block.flagged.begin(),
                                       block.flagged.end());
      if (own != taken.end())
        differs = std::min(differs, own->first);
      if (real != block.flagged.end())
        differs = std::min(differs, real->first);
    }
    if (differs == SIZE_MAX)
      return success();
    for (auto [taken, block] : llvm::zip(believed, talk)) {
      taken.clear();
      for (auto verdict : block.flagged)
        if (verdict.first <= differs)
          taken.insert(verdict);
    }
  }
}

std::string Follower::checkAgain() const {
  for (const BlockTalk &block : talk)
    for (auto [place, flag] : block.flagged) {
      const Posted &failing = block.posted[place];
      bool comes = llvm::any_of(
          ArrayRef(block.posted).drop_front(place + 1),
          [&](const Posted &later) { return later.again && later.tile == failing.tile; });
      if (!failing.again && !comes)
        return "tile " + std::to_string(failing.tile) +
               " fails its check and is not done again";
    }
  return "";
}

FailureOr<std::string> attn::checkProtocol(func::FuncOp program,
                                           const ProtocolRun &asked) {
  tile::SpecializeOp roles;
  bool signalled = false;
  program.walk([&](Operation *op) {
    if (auto specialize = dyn_cast<tile::SpecializeOp>(op))
      roles = specialize;
    signalled |= isa<tile::AllocSignalsOp>(op);
  });
  if (!signalled)
    return std::string();
  std::string held = checkHeldOperands(program);
  if (held.empty())
    held = checkOnes(program, roles);
  if (!held.empty())
    return held;

  // Whole clusters are launched, and the one that the block belongs to is run.
  int64_t blocks = tile::clusterOf(program);
  ProtocolRun run = asked;
  run.block = asked.block / blocks * blocks;
  run.launched = std::max<int64_t>((asked.launched + blocks - 1) / blocks, 1) * blocks;
  auto groupCount = program->getAttrOfType<IntegerAttr>("tile.groups");
  int64_t groups = roles ? static_cast<int64_t>(roles.getGroups())
                         : groupCount ? groupCount.getInt() : 1;
  Numbers numbers(program);
  Follower follower{program, roles, run, numbers, blocks, groups, {}, {}, ""};
  if (failed(follower.agree()))
    return failure();
  if (!follower.trouble.empty())
    return follower.trouble;
  for (const std::string &wrong : {follower.checkAgain(), checkParts(follower.all)})
    if (!wrong.empty())
      return wrong;
  for (int64_t i = 0; i < run.orders; ++i) {
    std::string wrong = runInSomeOrder(
        follower.all, numbers, blocks, roles && roles.getTurns(),
        /*late=*/i % 2 == 1, run.seed * 1000003 + static_cast<uint64_t>(i));
    if (!wrong.empty())
      return wrong;
  }
  return std::string();
}
