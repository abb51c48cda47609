# Choosing schedules is pure: it needs no LLVM.
add_executable(ScheduleTest ${CMAKE_CURRENT_LIST_DIR}/ScheduleChooseTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ScheduleGroupsTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ScheduleOverridesTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ScheduleSearchTest.cpp)
target_link_libraries(ScheduleTest PRIVATE AttnChoose GTest::gtest_main)
gtest_discover_tests(ScheduleTest)
