//===- Page.h - the report's page, embedded -------------------------------===//
#ifndef ATTN_LIB_PROFILE_PAGE_H
#define ATTN_LIB_PROFILE_PAGE_H

namespace attn::profile {

/// Page/page.html with its style and scripts inside; "@DATA@" stands where the
/// data go.
extern const char *const kPage;

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_PAGE_H
