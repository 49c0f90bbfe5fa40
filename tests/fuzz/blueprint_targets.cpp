#include <algorithm>
#include <cstdlib>
#include <string>

#include "blueprint/blueprint.hpp"
#include "blueprint/customizations/password_hash.hpp"
#include "blueprint/customizations/ssh_key.hpp"
#include "blueprint/parse/parse.hpp"
#include "blueprint/sources/policy_rule.hpp"
#include "fuzz/targets.hpp"
#include "resolve/resolution.hpp"
#include "support/files/file.hpp"
#include "support/files/tar_reader.hpp"
#include "support/path_glob.hpp"

namespace edgegpu::fuzz {

void read_blueprint(std::string_view data) {
    const auto path = scratch_file("b.toml", data);
    read_or_refuse([&] { static_cast<void>(parse_blueprint(path)); });
}

void read_repo_file_text(std::string_view data) {
    const auto blueprint = scratch_file("b.toml", "name = \"x\"\ndistro = \"lab-12\"\n");
    const auto path = scratch_file("x.repo", data);
    read_or_refuse([&] { static_cast<void>(parse_blueprint(blueprint, {{path}, {}})); });
}

void read_lockfile_text(std::string_view data) {
    const auto path = scratch_file("lock.toml", data);
    read_or_refuse([&] {
        const Resolution first = read_lockfile(path);
        // What is written is read as it was meant, whatever was in it.
        write_lockfile(path, first);
        const std::string written = read_file(path);
        write_lockfile(path, read_lockfile(path));
        if (read_file(path) != written) {
            std::abort();
        }
    });
}

void read_overlay_archive(std::string_view data) {
    const auto path = scratch_file("overlay.tar", data);
    read_or_refuse([&] {
        TarReader reader(TarFile{path, "overlay.tar", ""});
        TarMember member;
        // Sparse members may say that they are larger than any disk.
        std::size_t left = 64U << 20U;
        while (reader.next(member)) {
            reader.read([&](const char*, std::size_t size) {
                if (size > left) {
                    throw Error("enough");
                }
                left -= size;
            });
        }
    });
}

void read_password_hash(std::string_view data) {
    static_cast<void>(password_hash_fault(data));
}

void read_ssh_key(std::string_view data) {
    static_cast<void>(ssh_key_fault(data));
}

void read_path_glob(std::string_view data) {
    // A pattern, and in the next line a path.
    const std::size_t end = std::min(data.find('\n'), data.size());
    const std::string_view path = data.substr(std::min(end + 1, data.size()));
    read_or_refuse([&] {
        const PathGlob glob(data.substr(0, end));
        static_cast<void>(glob.matches(path));
        static_cast<void>(glob.regex());
    });
}

void read_policy_rule(std::string_view data) {
    read_or_refuse([&] {
        for (const selinux::AllowRule& rule : selinux::parse_rule(data, {"b.toml", 1, 1})) {
            // Its own words mean the same rule.
            const auto again = selinux::parse_rule(rule.text(), {"b.toml", 1, 1});
            if (again.size() != 1 || again.front().text() != rule.text()) {
                std::abort();
            }
        }
    });
}

}  // namespace edgegpu::fuzz
