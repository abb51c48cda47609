//===- ExprChecker.h - types of expressions -------------------------------===//
#ifndef ATTN_LIB_SPEC_EXPRCHECKER_H
#define ATTN_LIB_SPEC_EXPRCHECKER_H

#include "lib/Spec/Diagnostics.h"
#include "lib/Spec/Syntax.h"

#include <map>
#include <set>

namespace attn::spec {

/// The dtype a word names; reports unknown ones and those not supported yet.
std::optional<DType> resolveDType(const std::string &word, Span span,
                                  Diagnostics &diagnostics);

/// "[B, H, M]".
std::string showAxes(const Kernel &kernel, const std::vector<int> &axes);

/// "; the axes are B, H, M": all that the kernel has.
std::string listAxes(const Kernel &kernel);

/// Gives types to statements in order, and appends them to the kernel's body.
class ExprChecker {
public:
  ExprChecker(Kernel &kernel, Diagnostics &diagnostics, std::set<std::string> broken,
              bool nestsRead)
      : kernel(kernel), diagnostics(diagnostics), broken(std::move(broken)),
        nestsRead(nestsRead) {}

  void statement(const SyntaxStatement &syntax);

  /// Id of the local a name means now, -1 when there is none.
  int lookUpLocal(const std::string &name) const;
  bool isBroken(const std::string &name) const { return broken.count(name); }
  std::vector<std::string> localNames() const;

  /// What is legal and hardly meant: values that nothing uses, reads by the index of
  /// another axis. `kept` are the locals that results hold.
  void warnings(const std::vector<int> &kept);

private:
  using ExprPtr = std::unique_ptr<Expr>;

  // Each returns null after a report (its own or an operand's).
  ExprPtr check(const SyntaxExpr &syntax);
  ExprPtr name(const SyntaxExpr &syntax);
  ExprPtr unary(const SyntaxExpr &syntax);
  ExprPtr binary(const SyntaxExpr &syntax);
  ExprPtr call(const SyntaxExpr &syntax);
  ExprPtr read(const SyntaxExpr &syntax);
  ExprPtr function(const SyntaxExpr &syntax, Op op);
  ExprPtr select(const SyntaxExpr &syntax);
  ExprPtr cast(const SyntaxExpr &syntax);
  ExprPtr matmul(const SyntaxExpr &syntax);
  ExprPtr scale(const SyntaxExpr &syntax);
  ExprPtr mask(const SyntaxExpr &syntax);
  ExprPtr softmax(const SyntaxExpr &syntax);

  ExprPtr make(ExprKind kind, const SyntaxExpr &syntax);
  bool count(const SyntaxExpr &syntax, size_t least, size_t most,
             const char *usage);
  bool keywords(const SyntaxExpr &syntax, const std::vector<std::string> &known);
  const SyntaxExpr *keyword(const SyntaxExpr &syntax, const char *word);
  /// The axis an `over=` names, -1 after a report.
  int over(const SyntaxExpr &syntax);
  void reportWhere(const SyntaxExpr &syntax);
  std::optional<std::string> asMask(const SyntaxExpr &choice) const;
  bool number(const Expr &e, const char *where);
  std::vector<int> join(const std::vector<int> &a, const std::vector<int> &b);
  bool reaches(int outer, int axis) const;
  bool hasAxis(const Type &type, int axis) const;
  /// Whether no axis of a tensor nests another of it: both would run over the
  /// same elements, and none but a diagonal of the tensor had a meaning.
  bool nestsApart(const Expr &tensor);
  /// Whether a scale factor or condition varies along the scores' axes only.
  bool within(const Expr &scores, const Expr &part, const char *what,
              const char *instead);
  void warnDivision(const SyntaxExpr &syntax, const Expr &e);
  void warnIndex(const Expr &e, const char *what);
  bool isProbabilities(const Expr &e) const;

  Kernel &kernel;
  Diagnostics &diagnostics;
  std::set<std::string> broken;
  /// Every clause such as Hq = G * Hkv; else which axes a value has is not known.
  bool nestsRead;
  std::map<std::string, int> scope;
  std::set<int> usedArguments, usedLocals;
  /// A read of an argument at a bare index: position, axis and place.
  struct BareRead {
    int argument, position, axis;
    Span span;
  };
  std::vector<BareRead> bareReads;
};

} // namespace attn::spec

#endif // ATTN_LIB_SPEC_EXPRCHECKER_H
