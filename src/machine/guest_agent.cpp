#include "machine/guest_agent.hpp"

#include <string>

#include "embedded_guest_agent.hpp"

namespace edgegpu {

Injection guest_agent() {
    return {
        {Injected::Type::directory, "/etc/edgegpu-test", "", 0755},
        {Injected::Type::file, "/etc/edgegpu-test/guest-agent", std::string(embedded::guest_agent),
         0755},
        {Injected::Type::file, "/etc/systemd/system/edgegpu-test.service",
         std::string(embedded::edgegpu_test_service), 0644},
        // Not a link in multi-user.target.wants: presets, which a first boot applies, would remove
        // that.
        {Injected::Type::directory, "/etc/systemd/system/multi-user.target.d", "", 0755},
        {Injected::Type::file, "/etc/systemd/system/multi-user.target.d/edgegpu-test.conf",
         "[Unit]\nWants=edgegpu-test.service\n", 0644},
    };
}

}  // namespace edgegpu
