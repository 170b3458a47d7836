# The generated Thrift2 client, from our own IDL with just the calls that are used.
find_program(THRIFT_COMPILER thrift REQUIRED)
set(HBASE_IDL ${PROJECT_SOURCE_DIR}/src/hbase/idl/hbase.thrift)
set(HBASE_GEN ${CMAKE_CURRENT_BINARY_DIR}/gen-hbase)
set(HBASE_GEN_FILES ${HBASE_GEN}/THBaseService.cpp ${HBASE_GEN}/hbase_types.cpp)
add_custom_command(
  OUTPUT ${HBASE_GEN_FILES}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${HBASE_GEN}
  COMMAND ${THRIFT_COMPILER} -strict --gen cpp:no_skeleton,moveable_types -out ${HBASE_GEN} ${HBASE_IDL}
  DEPENDS ${HBASE_IDL})
add_library(hourfold_hbase_thrift STATIC ${HBASE_GEN_FILES})
target_include_directories(hourfold_hbase_thrift SYSTEM PUBLIC ${HBASE_GEN})
target_link_libraries(hourfold_hbase_thrift PUBLIC dep::thrift)
