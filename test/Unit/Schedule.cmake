# Choosing schedules is pure: it needs no MLIR at run time, but its library does.
if(NOT ATTN_RUNNER_ONLY)
  add_executable(ScheduleTest ${CMAKE_CURRENT_LIST_DIR}/ScheduleChooseTest.cpp)
  target_link_libraries(ScheduleTest PRIVATE AttnSchedule fmt::fmt
    GTest::gtest_main)
  gtest_discover_tests(ScheduleTest)
endif()
