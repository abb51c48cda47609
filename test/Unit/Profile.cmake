add_executable(ProfileTest ${CMAKE_CURRENT_LIST_DIR}/ProfileTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ProfileTimelineTest.cpp)
target_link_libraries(ProfileTest
  PRIVATE AttnProfile nlohmann_json::nlohmann_json GTest::gtest_main)
gtest_discover_tests(ProfileTest)
