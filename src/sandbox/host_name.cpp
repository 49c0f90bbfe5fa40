#include "sandbox/host_name.hpp"

#include <string_view>

#include <sys/utsname.h>

namespace edgegpu {

std::vector<std::string> host_name_arguments() {
    constexpr std::string_view name = "localhost";
    struct utsname machine {};
    if (::uname(&machine) == 0 && std::string_view(machine.nodename) == name) {
        return {};
    }
    return {"--hostname", std::string(name)};
}

}  // namespace edgegpu
