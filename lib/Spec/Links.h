//===- Links.h - links whose file is not there ----------------------------===//
#ifndef ATTN_LIB_SPEC_LINKS_H
#define ATTN_LIB_SPEC_LINKS_H

#include <string>

namespace attn {

/// "'a/b' is a link to 'c', which is not there; ...": the first part of `path` that is a
/// symbolic link which leads nowhere. "" where there is none.
std::string danglingLink(const std::string &path);

} // namespace attn

#endif // ATTN_LIB_SPEC_LINKS_H
