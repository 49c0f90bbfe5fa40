#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "gpu_health/observe/steps.hpp"
#include "gpu_health/observe/tree.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

constexpr std::size_t bars = 6;

/// "0x10de" → "10de"
std::string pci_number(const std::string& text) {
    return text.starts_with("0x") ? text.substr(2) : text;
}

/// current_link_width, max_link_width: the kernel writes 0 or 255 for what it does not know.
unsigned link_width(const std::string& text) {
    const unsigned lanes = leading_number<unsigned>(text);
    return lanes <= 32 ? lanes : 0;
}

/// "16.0 GT/s PCIe" and, of older kernels, "16 GT/s" → 4; "Unknown" → 0
unsigned link_generation(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, unsigned>, 6> speeds{
        {{"2.5", 1}, {"5", 2}, {"8", 3}, {"16", 4}, {"32", 5}, {"64", 6}}};
    std::string_view number = text.substr(0, text.find(' '));
    if (number.ends_with(".0")) {
        number.remove_suffix(2);
    }
    for (const auto& [speed, generation] : speeds) {
        if (number == speed) {
            return generation;
        }
    }
    return 0;
}

unsigned register_at(std::string_view space, std::size_t offset) {
    unsigned value = 0;
    for (std::size_t i = 4; i-- > 0;) {
        value = value << 8U | static_cast<unsigned char>(space[offset + i]);
    }
    return value;
}

/// Whether the function answers. Virtual functions have all ones as vendor and device (PCI Express
/// base specification, SR-IOV), and an answer is what differs from that in the rest of the header.
bool is_silent(const Reading& space, bool virtual_function) {
    if (!space.good()) {
        // Not there or not permitted says nothing of the device.
        return space.error != ENOENT && space.error != EACCES && space.error != EPERM;
    }
    const std::size_t compared = virtual_function ? space.content.size() : 4;
    return space.content.size() < 4 ||
           space.content.substr(0, compared).find_first_not_of('\xff') == std::string::npos;
}

/// A line of `resource`.
struct Resource {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t flags = 0;
};

/// "0x0000204002000000 0x0000204002ffffff 0x000000000014220c"
std::optional<Resource> read_resource(std::string_view line) {
    std::array<std::uint64_t, 3> numbers{};
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() != numbers.size()) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto number = words[i].starts_with("0x")
                                ? whole_number<std::uint64_t>(words[i].substr(2), 16)
                                : std::nullopt;
        if (!number) {
            return std::nullopt;
        }
        numbers[i] = *number;
    }
    return Resource{numbers[0], numbers[1], numbers[2]};
}

/// BARs of memory that have no address. The first six lines of `resource` are
/// theirs; the kernel clears all three of a BAR that it found no room for, which then differs from
/// one that does not exist by the bits of its register: the type of 64-bit memory is not 0.
std::vector<int> unassigned_bars(std::string_view resource, std::string_view space, bool readable) {
    constexpr unsigned memory_flag = 0x200;
    constexpr unsigned memory_64_type = 0x4;
    constexpr std::size_t first_register = 0x10;
    std::vector<int> unassigned;
    const std::vector<std::string_view> lines = lines_of(resource);
    for (std::size_t i = 0; i < bars && i < lines.size(); ++i) {
        const std::optional<Resource> line = read_resource(lines[i]);
        if (!line) {
            continue;
        }
        unsigned type = 0;
        if (readable && space.size() >= first_register + 4 * (i + 1)) {
            type = register_at(space, first_register + 4 * i) & 0x7U;
        }
        const bool lost = line->flags == 0 && line->end == 0 && type == memory_64_type;
        if (line->start == 0 && ((line->flags & memory_flag) != 0 || lost)) {
            unassigned.push_back(static_cast<int>(i));
        }
        // The register after that of 64-bit memory is its upper half.
        i += type == memory_64_type ? 1 : 0;
    }
    return unassigned;
}

PciFunction read_function(const Places& places, const std::string& address) {
    const std::string top = "bus/pci/devices/" + address + "/";
    const auto text = [&](std::string_view name) {
        return read_line(places.sys, top + std::string(name));
    };
    PciFunction function;
    function.address = address;
    function.id = pci_number(text("vendor")) + ":" + pci_number(text("device"));
    function.device_class = text("class");
    function.driver = link_name(places.sys, top + "driver");
    function.driver_override = text("driver_override");
    if (function.driver_override == "(null)") {
        function.driver_override.clear();
    }
    function.virtual_function = !link_name(places.sys, top + "physfn").empty();
    const Reading space = read_start(places.sys, top + "config", 64);
    function.silent =
        function.id.starts_with("ffff:") || is_silent(space, function.virtual_function);
    function.link_width = link_width(text("current_link_width"));
    function.max_link_width = link_width(text("max_link_width"));
    function.max_link_generation = link_generation(text("max_link_speed"));
    // A virtual function's registers are 0; what it has is its physical function's.
    function.unassigned_bars =
        unassigned_bars(read_start(places.sys, top + "resource", small_file).content, space.content,
                        !function.silent && !function.virtual_function);
    return function;
}

}  // namespace

void observe_presence(const Places& places, Facts& facts) {
    if (!is_there(places.sys, "bus")) {
        throw std::runtime_error("sysfs is not mounted at " + places.sys.native());
    }
    const std::filesystem::path devices = resolve(places.sys, "bus/pci/devices");
    std::error_code error;
    const std::filesystem::directory_iterator first(devices, error);
    // A machine without a PCI bus has no such directory.
    if (devices.empty() || (error && error != std::errc::no_such_file_or_directory)) {
        throw std::runtime_error("the devices of the PCI bus cannot be listed: " +
                                 (error ? error.message() : "a link leads to itself"));
    }
    facts.functions.clear();
    for (const std::string& address : names_in(places.sys, "bus/pci/devices")) {
        const std::string top = "bus/pci/devices/" + address + "/";
        const Reading reading = read_start(places.sys, top + "vendor", small_file);
        if (reading.error == EACCES || reading.error == EPERM || reading.error == ELOOP) {
            throw std::runtime_error("nothing is known of the PCI function " + address + ": " +
                                     reading.why());
        }
        const std::string_view vendor = trim(reading.content);
        const std::string device_class = read_line(places.sys, top + "class");
        const bool gone = vendor == "0xffff" && device_class == "0xffffff";
        if (gone ||
            ((vendor == "0x10de" || vendor == "0xffff") && device_class.starts_with("0x03"))) {
            facts.functions.push_back(read_function(places, address));
        }
    }
}

}  // namespace edgegpu::gpu_health
