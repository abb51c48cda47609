//===- opt_fuzzer.cpp - any module through a level's passes ---------------===//
//
// Parses a module of our dialects and runs one pipeline of lib/Pipelines on it.
// The last character that is no space chooses level and target, so that an
// input is one readable file. Errors are fine; a crash, a failed assertion and a
// pass that leaves invalid IR are findings.
//
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Passes.h"
#include "lib/Pipelines/Compile.h"
#include "lib/Target/Targets.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

using namespace mlir;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {
/// What a pass leaves must be valid.
struct VerifyAfter : PassInstrumentation {
  void runAfterPass(Pass *pass, Operation *op) override {
    if (failed(verify(op))) {
      llvm::errs() << "invalid IR after " << pass->getArgument() << "\n"
                   << *op << "\n";
      std::abort();
    }
  }
};

/// One context serves many inputs; it never forgets a type or attribute, so now
/// and then it is made anew.
MLIRContext &context() {
  static std::unique_ptr<MLIRContext> current;
  static unsigned uses = 0;
  if (!current || ++uses % 5000 == 0) {
    DialectRegistry registry;
    attn::registerAllAttnDialects(registry);
    current = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    current->loadAllAvailableDialects();
  }
  return *current;
}

/// Every level of every target.
const std::vector<attn::PipelineOptions> &pipelines() {
  static const std::vector<attn::PipelineOptions> list = [] {
    std::vector<attn::PipelineOptions> list;
    for (llvm::StringRef target : attn::target::targetNames())
      for (const std::string &level : attn::levelsOf(target)) {
        attn::PipelineOptions options;
        options.target = target.str();
        options.level = level;
        options.tf32 = list.size() % 2;
        list.push_back(options);
      }
    return list;
  }();
  return list;
}

/// True when the text uses a name that a later line defines. MLIR 22's parser
/// frees such a definition too early when the operation around it is malformed
/// (mlir-opt shows it with tensor.generate); our programs have no use for it.
bool hasForwardReference(llvm::StringRef text) {
  llvm::StringSet<> early;
  llvm::StringMap<int> defined;
  std::vector<std::vector<llvm::StringRef>> scopes(1);
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    bool header = line.contains("func") || line.contains('^');
    size_t results = line.ltrim().starts_with("%") ? line.find('=') : 0;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '{')
        scopes.emplace_back();
      if (line[i] == '}' && scopes.size() > 1) {
        for (llvm::StringRef name : scopes.back())
          --defined[name];
        scopes.pop_back();
      }
      if (line[i] != '%')
        continue;
      llvm::StringRef name = line.drop_front(i + 1).take_while(
          [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
      llvm::StringRef rest = line.drop_front(i + 1 + name.size());
      if (i < results || (header && rest.starts_with(":")) ||
          rest.ltrim().starts_with("=")) {
        if (early.contains(name))
          return true;
        ++defined[name];
        scopes.back().push_back(name);
      } else if (defined.lookup(name) <= 0) {
        early.insert(name);
      }
    }
  }
  return false;
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  llvm::StringRef trimmed = text.rtrim();
  uint8_t choice = trimmed.empty() ? 0 : trimmed.back();
  const attn::PipelineOptions &options =
      pipelines()[choice % pipelines().size()];

  if (hasForwardReference(text))
    return 0;
  MLIRContext &ctx = context();
  ScopedDiagnosticHandler quiet(&ctx, [](Diagnostic &) { return success(); });
  ParserConfig config(&ctx);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, config);
  if (!module || !module->getOps<ModuleOp>().empty())
    return 0; // The passes of a level see the functions of one module.
  PassManager pm(&ctx);
  pm.enableVerifier(false); // Ours tells which pass it was.
  pm.addInstrumentation(std::make_unique<VerifyAfter>());
  attn::addFusionPasses(pm, options);
  attn::addSchedulePasses(pm, options);
  if (options.target == "cpu")
    attn::addCpuCodegenPasses(pm);
  else
    attn::addGpuCodegenPasses(pm);
  (void)pm.run(*module);
  return 0;
}

//===----------------------------------------------------------------------===//
// Mutations that mostly keep the text a module
//===----------------------------------------------------------------------===//

namespace {
struct Token {
  size_t begin, end;
  char kind; ///< First character's class: % # ! " 0 a, or the character.
};

char classOf(char c) {
  if (llvm::isDigit(c))
    return '0';
  return llvm::isAlpha(c) || c == '_' ? 'a' : c;
}

std::vector<Token> tokenize(llvm::StringRef text) {
  std::vector<Token> tokens;
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    size_t end = i + 1;
    char kind = classOf(c);
    if (c == '"') {
      end = std::min(text.find('"', i + 1), text.size() - 1) + 1;
    } else if (llvm::isAlnum(c) || c == '_' || c == '%' || c == '#' ||
               c == '!' || c == '^' || c == '@') {
      while (end < text.size() && (llvm::isAlnum(text[end]) ||
                                   text[end] == '_' || text[end] == '.'))
        ++end;
    }
    if (!llvm::isSpace(c))
      tokens.push_back({i, end, kind});
    i = end;
  }
  return tokens;
}

/// Words of our dialects that a module may not hold yet.
const char *const kWords[] = {
    "attn.matmul", "attn.scale", "attn.mask", "attn.map", "attn.softmax",
    "attn.online_softmax", "attn.round", "attn.copy", "attn.kernel",
    "attn.return", "attn.yield", "attn.index", "attn.length", "attn.read",
    "tile.load", "tile.store", "tile.gather", "tile.index", "tile.splat",
    "tile.broadcast", "tile.reduce", "tile.dot", "tile.mask", "tile.for_keys",
    "tile.view", "tile.block_id", "tile.alloc_shared", "tile.copy_async",
    "tile.shared_read", "tile.wait", "tile.barrier", "tile.load_box",
    "tile.running_max", "tile.rescale", "tile.fold", "tile.unfold", "tile.band", "tile.any", "tile.slab_read",
    "tile.dot_async", "tile.dot_wait", "tile.copy_box", "tile.signal_wait",
    "running", "vote", "keep",
    "tile.specialize", "tile.role_end", "tile.turn_wait", "tile.turn_pass",
    "tile.post_tile", "tile.take_tile", "tile.next_tile",
    "tile.again", "tile.redo", "tile.raise_flag", "tile.take_flag", "turns", "schedule", "rows",
    "columns", "depth", "warps", "stages", "vector", "out", "f16", "bf16", "f32",
    "f64", "i1", "i8", "i32", "i64", "index", "sink", "transposed", "zero",
    "tf32", "extent", "group", "inner"};
const char *const kNumbers[] = {"0",  "1",   "2",   "3",    "7",          "8",
                                "15", "16",  "17",  "32",   "33",         "64",
                                "65", "128", "512", "1024", "1073741824",
                                "4294967296", "9223372036854775807"};

struct Random {
  uint32_t state;
  uint32_t operator()(size_t bound) {
    state = state * 1664525u + 1013904223u;
    return bound ? (state >> 8) % bound : 0;
  }
};
} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  Random random{seed};
  if (size == 0 || random(20) == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string text(reinterpret_cast<char *>(data), size);
  if (random(8) == 0) { // Another pipeline.
    size_t last = llvm::StringRef(text).rtrim().size();
    char letter = 'a' + random(26);
    if (last && text.find("//") != std::string::npos)
      text[last - 1] = letter;
    else
      text += std::string("// ") + letter;
  } else if (random(4) == 0) { // Lines: drop, repeat, exchange.
    llvm::SmallVector<llvm::StringRef> views;
    llvm::StringRef(text).split(views, '\n');
    std::vector<std::string> lines;
    for (llvm::StringRef view : views)
      lines.push_back(view.str());
    size_t a = random(lines.size()), b = random(lines.size());
    switch (random(3)) {
    case 0:
      lines.erase(lines.begin() + a);
      break;
    case 1: {
      std::string copy = lines[a];
      lines.insert(lines.begin() + b, copy);
      break;
    }
    default:
      std::swap(lines[a], lines[b]);
    }
    text = llvm::join(lines, "\n");
  } else { // A token becomes another of its kind.
    std::vector<Token> tokens = tokenize(text);
    if (tokens.empty())
      return LLVMFuzzerMutate(data, size, maxSize);
    Token at = tokens[random(tokens.size())];
    std::string other;
    if (at.kind == '0' && random(2)) {
      other = kNumbers[random(std::size(kNumbers))];
    } else if (at.kind == 'a' && random(3) == 0) {
      other = kWords[random(std::size(kWords))];
    } else {
      std::vector<Token> alike;
      for (const Token &token : tokens)
        if (token.kind == at.kind)
          alike.push_back(token);
      Token from = alike[random(alike.size())];
      other = text.substr(from.begin, from.end - from.begin);
    }
    text.replace(at.begin, at.end - at.begin, other);
  }
  if (text.empty())
    return LLVMFuzzerMutate(data, size, maxSize);
  size = std::min(text.size(), maxSize);
  std::copy_n(text.begin(), size, data);
  return size;
}
