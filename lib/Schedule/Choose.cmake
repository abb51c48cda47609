# Choosing schedules is pure and needs no LLVM: attn-bench --tune uses it, too.
add_library(AttnChoose STATIC
  ${CMAKE_CURRENT_LIST_DIR}/Choose.cpp
  ${CMAKE_CURRENT_LIST_DIR}/Overrides.cpp
  ${CMAKE_CURRENT_LIST_DIR}/Search.cpp)
target_link_libraries(AttnChoose PUBLIC fmt::fmt-header-only)
