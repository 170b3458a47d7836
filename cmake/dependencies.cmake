# Third-party libraries under one kind of name each, as Debian 12 packages them. Their headers are system headers: our warnings are ours.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

function(hourfold_dependency name)
  add_library(${name} INTERFACE IMPORTED GLOBAL)
  target_link_libraries(${name} INTERFACE ${ARGN})
endfunction()

pkg_check_modules(RDKAFKA REQUIRED IMPORTED_TARGET GLOBAL rdkafka)
pkg_check_modules(ROCKSDB REQUIRED IMPORTED_TARGET GLOBAL rocksdb)
pkg_check_modules(THRIFT REQUIRED IMPORTED_TARGET GLOBAL thrift)
pkg_check_modules(SIMDJSON REQUIRED IMPORTED_TARGET GLOBAL simdjson)
# cpp-httplib is a compiled library here; its flags decide the ABI.
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET GLOBAL cpp-httplib)
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)

hourfold_dependency(dep::rdkafka PkgConfig::RDKAFKA Threads::Threads)
hourfold_dependency(dep::rocksdb PkgConfig::ROCKSDB Threads::Threads)
hourfold_dependency(dep::thrift PkgConfig::THRIFT)
hourfold_dependency(dep::simdjson PkgConfig::SIMDJSON)
hourfold_dependency(dep::httplib PkgConfig::HTTPLIB Threads::Threads)
hourfold_dependency(dep::prometheus prometheus-cpp::core)
hourfold_dependency(dep::json nlohmann_json::nlohmann_json)
hourfold_dependency(dep::cli11 CLI11::CLI11)
hourfold_dependency(dep::spdlog spdlog::spdlog)
