add_executable(ProfileTest ${CMAKE_CURRENT_LIST_DIR}/ProfileTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ProfileCompareTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ProfileReasonTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ProfileReportTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ProfileTimelineTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ProfileTrafficTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ProfileTuneTest.cpp)
target_link_libraries(ProfileTest
  PRIVATE AttnProfile AttnChoose nlohmann_json::nlohmann_json GTest::gtest_main)
gtest_discover_tests(ProfileTest)
