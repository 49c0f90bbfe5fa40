#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blueprint/customizations/customizations.hpp"
#include "blueprint/toml/validate.hpp"
#include "embedded_firstboot.hpp"
#include "support/source_location.hpp"
#include "support/text/deployed_path.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// A script; without "#!" a shell script.
std::string read_program(const TableReader& table, std::string_view key) {
    std::string text = table.text(key);
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
        throw error_at(table.has(key) ? table.location(key) : table.location(), "\"{}\" is {}",
                       table.full_name(key), table.has(key) ? "empty" : "missing");
    }
    if (text.find('\0') != std::string::npos) {
        throw error_at(table, key, "\"{}\" contains a NUL", table.full_name(key));
    }
    if (text.find("\r\n") != std::string::npos) {
        throw error_at(table, key,
                       "\"{}\" has lines that end with CR and LF, which no interpreter finds or "
                       "understands on a device",
                       table.full_name(key))
            .hinted("convert the file to lines that end with LF: dos2unix, or sed -i 's/\\r$//'");
    }
    if (!text.starts_with("#!")) {
        text.insert(0, "#!/bin/sh\n");
    }
    if (text.back() != '\n') {
        text += '\n';
    }
    return text;
}

std::string read_callback(const TableReader& table) {
    static_cast<void>(table.has("host_config_key"));
    const std::string url = table.required_string("job_template_url");
    const std::string key = table.required_string("host_config_key");
    if (!url.starts_with("https://") && !url.starts_with("http://")) {
        throw error_at(table, "job_template_url", "\"{}\" must be a URL, not \"{}\"",
                       table.full_name("job_template_url"), url);
    }
    // curl --fail makes the script fail if the controller refuses the request.
    return fill_in(embedded::automation_callback,
                   {{"DATA", shell_word("host_config_key=" + key)}, {"URL", shell_word(url)}});
}

std::string read_custom_name(const TableReader& table, const Blueprint& blueprint) {
    std::string name = table.string("name");
    if (name.empty()) {
        return "custom-" + std::to_string(blueprint.firstboot.size() + 1);
    }
    const SourceLocation at = table.location("name");
    if (!is_plain_name(name, "_-") || name.size() > 64) {
        throw error_at(at, "invalid name of a first boot script \"{}\"", name)
            .hinted("at most 64 letters, digits, '_' and '-'");
    }
    if (name == "satellite" || name == "aap" || name.starts_with("custom")) {
        throw error_at(at, "\"{}\" is a reserved name of first boot scripts", name)
            .hinted("unnamed ones are custom-1, custom-2, …");
    }
    return name;
}

FirstbootScript read_script(const TableReader& table, Blueprint& blueprint) {
    FirstbootScript script;
    script.location = table.location();
    const std::string type = table.choice("type", "custom", {"custom", "satellite", "aap"});
    if (type == "custom") {
        if (!table.attempt([&] { script.name = read_custom_name(table, blueprint); })) {
            // A placeholder; the blueprint is rejected.
            script.name = "custom-" + std::to_string(blueprint.firstboot.size() + 1);
        }
        table.attempt([&] { script.contents = read_program(table, "contents"); });
    } else {
        // Image builder accepts a name here too and ignores it.
        static_cast<void>(table.string("name"));
        script.name = type;
        table.attempt([&] {
            script.contents =
                type == "satellite" ? read_program(table, "command") : read_callback(table);
        });
        read_certificate_list(table, "cacerts", blueprint);
    }
    script.ignore_failure = table.boolean("ignore_failure", false);
    script.after = table.checked_strings("after", require_unit_name);
    script.before = table.checked_strings("before", require_unit_name);
    table.finish();
    return script;
}

}  // namespace

void read_firstboot(const TableReader& table, Blueprint& blueprint) {
    table.each_table("scripts", [&](const TableReader& entry) {
        FirstbootScript script = read_script(entry, blueprint);
        require_new(blueprint.firstboot, &FirstbootScript::name, script, script.location,
                    "first boot script");
        blueprint.firstboot.push_back(std::move(script));
    });
    table.finish();
}

void read_container_store(const TableReader& table, Blueprint& blueprint) {
    table.finish({"destination-path"});
    const std::string path = table.required_string("destination-path");
    const SourceLocation at = table.location("destination-path");
    require_absolute_path(at, table.full_name("destination-path"), path);
    if (!is_plain_name(path.substr(1), "_.-+/@") ||
        (!path.starts_with("/usr/") && !path.starts_with("/var/"))) {
        throw error_at(at, "\"{}\" must be a directory below /usr or /var, not \"{}\"",
                       table.full_name("destination-path"), path)
            .hinted("as in \"/usr/share/containers/storage\"");
    }
    const std::string deployed = deployed_path(path);
    // podman and CRI-O write to it, and lock it otherwise than one that is only read.
    if (is_below(deployed, "/var/lib/containers/storage")) {
        throw error_at(at, "\"{}\": {} is where the device has its own images",
                       table.full_name("destination-path"), path)
            .hinted(
                "an additional store needs a directory of its own, as in "
                "\"/var/lib/containers/more\"");
    }
    blueprint.container_store = path;
    blueprint.container_store_location = at;
}

}  // namespace edgegpu
