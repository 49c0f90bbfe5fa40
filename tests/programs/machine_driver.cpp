// A machine under the control of tests/integration/machine_test: executes the lines of its standard
// input, and answers each with a line.
//   machine_driver DISK WORK uefi|bios [usb=MEDIUM | cd=MEDIUM | first-cd=MEDIUM |
//   disk=ANOTHER-DISK]...
// up [SECONDS], reboot [SECONDS], restarted [SECONDS] (by itself), off; run SECONDS SCRIPT (the
// rest of the line); screenshot FILE

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "execution/interrupt.hpp"
#include "machine/machine.hpp"
#include "support/error.hpp"

namespace {

constexpr std::chrono::seconds boot_limit{300};

nlohmann::json execute(edgegpu::Machine& machine, const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "up") {
        int limit = 0;
        machine.wait_until_up(words >> limit ? std::chrono::seconds(limit) : boot_limit);
    } else if (command == "reboot") {
        int limit = 0;
        machine.reboot(words >> limit ? std::chrono::seconds(limit) : boot_limit);
    } else if (command == "restarted") {
        int limit = 0;
        machine.wait_for_restart(words >> limit ? std::chrono::seconds(limit) : boot_limit);
    } else if (command == "off") {
        machine.power_off(std::chrono::seconds(60));
    } else if (command == "screenshot") {
        std::string file;
        std::getline(words >> std::ws, file);
        machine.screenshot(file);
    } else {
        int limit = 0;
        std::string script;
        words >> limit;
        std::getline(words, script);
        const edgegpu::GuestResult result = machine.run(script, std::chrono::seconds(limit));
        return {
            {"status", result.status}, {"output", result.output}, {"timed_out", result.timed_out}};
    }
    return nlohmann::json::object();
}

/// Whether `argument` describes a drive.
bool add_drive(std::string_view argument, edgegpu::MachineSettings& settings) {
    const std::string_view kind = argument.substr(0, argument.find('='));
    const std::string_view file = argument.substr(std::min(kind.size() + 1, argument.size()));
    if (kind == "disk") {
        settings.more_disks.emplace_back(file);
        return true;
    }
    settings.medium_first = kind == "first-cd";
    settings.medium = file;
    settings.medium_drive = kind == "usb" ? edgegpu::Drive::usb_stick : edgegpu::Drive::cd;
    return kind == "cd" || kind == "first-cd" || kind == "usb";
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        return 2;
    }
    edgegpu::install_interrupt_handlers();
    edgegpu::Console console;
    edgegpu::Context ctx;
    ctx.console = &console;
    ctx.cancelled = &edgegpu::interrupted();
    edgegpu::MachineSettings settings;
    settings.disk = argv[1];
    settings.work = argv[2];
    settings.firmware =
        std::string(argv[3]) == "bios" ? edgegpu::Firmware::bios : edgegpu::Firmware::uefi;
    for (int i = 4; i < argc; ++i) {
        if (!add_drive(argv[i], settings)) {
            return 2;
        }
    }
    try {
        console.begin_stage("machine");
        edgegpu::Machine machine(ctx, settings);
        std::cout << nlohmann::json{{"accelerator", machine.accelerator()}} << std::endl;
        for (std::string line; std::getline(std::cin, line);) {
            std::cout << execute(machine, line) << std::endl;
        }
    } catch (const edgegpu::Error& failure) {
        std::cerr << failure.render();
        return failure.exit_status();
    }
    return 0;
}
