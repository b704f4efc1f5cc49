# Everything here is packaged in Debian 12 and newer; scripts/install-dependencies lists the packages.

find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(yaml-cpp 0.7 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(pugixml 1.13 REQUIRED)
find_package(Boost 1.74 REQUIRED) # headers of Boost.Graph
find_package(Eigen3 3.4 REQUIRED NO_MODULE)

# yaml-cpp before 0.8 exports its target without a namespace.
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
