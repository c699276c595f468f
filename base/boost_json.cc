// The one place where Boost.JSON is compiled: the library without its .so. Who includes
// boost/json.hpp is checked by tests/tidy.
#include <boost/json/src.hpp>
